import { expect, test } from 'vitest';
import { boundDeadline, hasDeadline } from './deadline.ts';

// prettier-ignore: a table is read by column
test.each([
  ['connect-timeout-ms', '500', '500'],
  ['connect-timeout-ms', '86400000', '86400000'],
  ['connect-timeout-ms', '86400001', '86400000'],
  ['connect-timeout-ms', '9999999999', '86400000'],
  ['connect-timeout-ms', 'soon', 'soon'],
  ['grpc-timeout', '10S', '10S'],
  ['grpc-timeout', '24H', '24H'],
  ['grpc-timeout', '25H', '86400S'],
  ['grpc-timeout', '99999999H', '86400S'],
  ['grpc-timeout', '99999999m', '86400S'],
  ['grpc-timeout', '99999999n', '99999999n'],
  ['grpc-timeout', '1Y', '1Y'],
])('%s: %s becomes %s', (name, value, bounded) => {
  const headers = new Headers({ [name]: value });
  expect(hasDeadline(headers)).toBe(true);
  boundDeadline(headers);
  expect(headers.get(name)).toBe(bounded);
});
