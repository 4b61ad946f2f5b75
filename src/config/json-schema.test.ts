import { describe, expect, test } from 'vitest';
import { configJsonSchema, snapshotJsonSchema } from './json-schema.ts';

/** Every schema of an object, with its path. */
function objects(schema: unknown, path: string): [string, Record<string, unknown>][] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inner = Object.entries(schema).flatMap(([key, value]) => objects(value, `${path}/${key}`));
  return 'properties' in schema ? [[path, { ...schema }], ...inner] : inner;
}

describe.each([
  ['bellows.yaml', configJsonSchema()],
  ['a snapshot file', snapshotJsonSchema()],
])('the JSON Schema of %s', (_name, schema) => {
  test('allows no unknown key anywhere', () => {
    const open = objects(schema, '').filter(
      ([, object]) => object['additionalProperties'] !== false,
    );
    expect(open.map(([path]) => path)).toEqual([]);
  });

  test('has a title and an id that names no host', () => {
    expect(schema).toMatchObject({
      title: expect.any(String),
      $id: expect.stringMatching(/^urn:/),
    });
  });
});

test('the JSON Schema of bellows.yaml carries descriptions and defaults', () => {
  expect(configJsonSchema()).toMatchObject({
    required: ['groups'],
    properties: {
      strategy: { default: 'cost', enum: ['priority', 'utilization', 'cost'] },
      limits: {
        properties: {
          createsPerMinute: { default: 60 },
          terminationsPerMinute: { default: 60 },
          drainingPercent: { default: 50 },
        },
      },
      timeouts: {
        properties: { booting: { default: '10m', description: expect.stringContaining('(10m)') } },
      },
      groups: {
        items: {
          required: ['name', 'host', 'max'],
          properties: {
            min: { default: 0 },
            host: { additionalProperties: { type: ['number', 'string'] } },
          },
        },
      },
    },
  });
});
