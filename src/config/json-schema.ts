import { z } from 'zod';
import { settingsSchema } from './schema.ts';
import { snapshotSchema } from './snapshot-schema.ts';

/** JSON Schema (draft 2020-12) of bellows.yaml as people write it, for editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return describeSchema(settingsSchema, 'bellows.yaml', 'bellows-config/1');
}

/** JSON Schema (draft 2020-12) of a snapshot file, its configuration inline or by path. */
export function snapshotJsonSchema(): Readonly<Record<string, unknown>> {
  const whole = snapshotSchema.extend({
    config: z
      .union([z.string(), settingsSchema])
      .describe('The path of bellows.yaml, relative to this file, or its content.'),
  });
  return describeSchema(whole, 'Bellows snapshot', 'bellows-snapshot/1');
}

/** `$id` names the format and no host: the schema is printed, not served. */
function describeSchema(schema: z.ZodType, title: string, id: string) {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { $schema, $id: `urn:${id.replace('/', ':')}`, title, ...rest };
}
