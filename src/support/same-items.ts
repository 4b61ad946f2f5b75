/** Whether two lists have the same items, object for object. */
export function isSameItems(before: readonly unknown[], now: readonly unknown[]): boolean {
  if (before.length !== now.length) return false;
  // A plain loop: thousands of lists are compared in every tick.
  for (let n = 0; n < now.length; n++) if (before[n] !== now[n]) return false;
  return true;
}
