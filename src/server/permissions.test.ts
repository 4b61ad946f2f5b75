import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { roles } from './caller.ts';
import { permissionOf, permissions } from './permissions.ts';

test('every call of the service has its row, and no row is of another', () => {
  expect(Object.keys(permissions)).toEqual(
    AutoscalerService.methods.map((method) => method.localName),
  );
});

test('the proto names the same least role', () => {
  const proto = readFileSync(
    new URL('../../proto/bellows/v1/autoscaler.proto', import.meta.url),
    'utf8',
  );
  for (const method of AutoscalerService.methods) {
    const found = new RegExp(`// (.*)\\n\\s*rpc ${method.name}\\(`).exec(proto)?.[1] ?? '';
    expect(found, method.name).toMatch(
      new RegExp(`\\. ${permissionOf(method.localName)?.needs}\\.$`),
    );
  }
});

// prettier-ignore: a table is read by column
test.each([
  ['viewer', 7],
  ['worker', 1],
  ['scheduler', 11],
  ['operator', 15],
  ['admin', 16],
] as const)('%s may make %d calls', (role, count) => {
  expect(Object.values(permissions).filter((row) => row.roles.includes(role)).length).toBe(count);
});

test('admin may do all, a worker nothing but report', () => {
  expect(roles).toContain('worker');
  expect(permissions.reportHosts.roles).toContain('worker');
  expect(Object.values(permissions).every((row) => row.roles.includes('admin'))).toBe(true);
});

test.each(['toString', 'constructor', '__proto__', 'unheardOf'])('nobody may call %s', (name) => {
  expect(permissionOf(name)).toBe(null);
});
