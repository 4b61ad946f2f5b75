/** A stream of numbers in [0, 1) that depends on its seed alone (mulberry32). */
export type Random = () => number;

/** Opens a stream. The same seed gives the same numbers on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A stream of its own for each name, from one seed: a new draw here does not shift the draws there.
 * The seed is hashed with the name (FNV-1a), then mixed once more, so that near names lie far apart.
 */
export function forkRandom(seed: number, name: string): Random {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let at = 0; at < name.length; at++) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return seededRandom((hash ^ (hash >>> 16)) >>> 0);
}
