import { type DescMessage, type MessageShape, toJson } from '@bufbuild/protobuf';

/** A message as JSON with every field that is always there, so that scripts find zeros and empty lists. */
export const toJsonValue = <Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): unknown => toJson(schema, message, { alwaysEmitImplicit: true });

/** One document, indented, for people who look at it. */
export const jsonDocument = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** One document on one line, for those that come one after the other. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
