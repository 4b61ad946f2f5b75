import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aRequest, bootstrap } from '../../../test/external-bench.ts';
import { sliceId } from '../../model/ids.ts';
import { isObject } from './answer.ts';
import { readMachines, readOutcomes } from './mapping.ts';
import { toInput, toWireRequest } from './protocol.ts';

// The documents that docs/providers/external.md shows are those that are written and read here.
const page = readFileSync(new URL('../../../docs/providers/external.md', import.meta.url), 'utf8');
const documents = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(([, text = '']): unknown =>
  JSON.parse(text),
);
const asIs = (text: string): string => text;
const shown = (isIt: (document: Record<string, unknown>) => boolean): Record<string, unknown> => {
  const document = documents.filter(isObject).find(isIt);
  if (document === undefined) throw new Error('the page does not show it');
  return document;
};
/** Names of fields, at every depth but inside the mappings that have names of their own. */
const fieldsOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return fieldsOf(value[0]);
  if (!isObject(value)) return typeof value;
  return Object.entries(value).map(([name, inside]) =>
    ['host', 'attributes', 'launch'].includes(name) ? name : [name, fieldsOf(inside)],
  );
};

test('its machines are read without a complaint', () => {
  const reading = readMachines(
    shown(({ machines }) => machines !== undefined),
    asIs,
  );
  expect(reading).toMatchObject({ kind: 'read', problems: [] });
  expect(reading.kind === 'read' && reading.value).toHaveLength(3);
});

test('its outcomes are read without a complaint', () => {
  const batch = [aRequest('l4-1-2s-0'), aRequest('l4-1-2s-1')];
  const reading = readOutcomes(
    shown(({ outcomes }) => outcomes !== undefined),
    batch,
    asIs,
  );
  expect(reading).toMatchObject({ kind: 'read', problems: [] });
  expect(reading.kind === 'read' && reading.value).toHaveLength(2);
});

test.each([
  ['list', toInput('f', { call: 'list' })],
  [
    'launch',
    toInput('f', { call: 'launch', requests: [toWireRequest(aRequest('s', { bootstrap }), 't')] }),
  ],
  ['terminate', toInput('f', { call: 'terminate', sliceIds: [sliceId('s')] })],
])('its input of %s has the fields that are sent', (name, input) => {
  expect(fieldsOf(shown(({ call }) => call === name))).toEqual(fieldsOf(JSON.parse(input)));
});
