/** How far two numbers may be apart and still count as equal. */
const NUMBER_TOLERANCE = 1e-9;

/** A place where a result is not what was expected. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Where a result departs from an expectation: every key of `expected` must equal the result's,
 * recursively; arrays element by element; keys that are not expected are ignored.
 */
export function findDifferences(
  expected: unknown,
  actual: unknown,
  path = '',
): readonly Difference[] {
  if (typeof expected === 'number' && typeof actual === 'number') {
    const isEqual = expected === actual || Math.abs(expected - actual) <= NUMBER_TOLERANCE;
    return isEqual ? [] : [{ path, expected, actual }];
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [{ path, expected, actual }];
    if (expected.length !== actual.length) return [{ path, expected, actual }];
    return expected.flatMap((item, index) =>
      findDifferences(item, actual[index], `${path}[${index}]`),
    );
  }
  if (isRecord(expected)) {
    if (!isRecord(actual)) return [{ path, expected, actual }];
    return Object.keys(expected).flatMap((key) =>
      findDifferences(expected[key], actual[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return Object.is(expected, actual) ? [] : [{ path, expected, actual }];
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
