import { nearestName } from '../support/nearest.ts';
import { describeValue, type Finding, type Path, PROBLEMS_SOUGHT_MAX } from './problem.ts';

/** Names listed in a message before it says "...". */
const NAMES_SHOWN_MAX = 10;

/** A finding about the value at a path. */
export function finding(path: Path, value: unknown, message: string, remedy: string): Finding {
  return { path, at: 'value', value, message, remedy };
}

/** A name that is not in its list, with the nearest that is. `section` is where to add it. */
export function unknownName(
  path: Path,
  what: string,
  name: string,
  known: readonly string[],
  section: string,
): Finding {
  const near = nearestName(name, known);
  const shown = known.slice(0, NAMES_SHOWN_MAX).join(', ');
  const listed = known.length > NAMES_SHOWN_MAX ? `${shown}, ...` : shown;
  const others = known.length === 0 ? `add it under ${section}` : `known: ${listed}`;
  const message = `unknown ${what} ${describeValue(name)}`;
  return finding(path, name, message, near === null ? others : `did you mean ${near}?`);
}

/** A named thing, or `count` of them called `id/0`, `id/1` and so on. */
export interface Named {
  readonly id: string;
  readonly count: number;
  readonly path: Path;
}

/** Ids given twice, also where one is the name of an item of another's count; the first 1,000. */
export function findDuplicateIds(items: readonly Named[]): readonly Finding[] {
  const counts = new Map<string, number>();
  const found: Finding[] = [];
  for (const { id, count, path } of items) {
    if (counts.has(id)) {
      const message = `the id ${describeValue(id)} is taken already`;
      found.push(finding([...path, 'id'], id, message, 'give each its own'));
    } else {
      counts.set(id, count);
    }
  }
  for (const { id, path } of items) {
    const slash = id.lastIndexOf('/');
    const index = id.slice(slash + 1);
    const count =
      slash < 0 || !/^(0|[1-9]\d*)$/.test(index) ? 1 : (counts.get(id.slice(0, slash)) ?? 1);
    if (count > 1 && Number(index) < count) {
      const batch = describeValue(id.slice(0, slash));
      const message = `the id ${describeValue(id)} is one of the ${count} called ${batch}`;
      found.push(finding([...path, 'id'], id, message, 'give each its own'));
    }
  }
  return found.slice(0, PROBLEMS_SOUGHT_MAX);
}
