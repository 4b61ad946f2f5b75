/**
 * The promise, or the signal's reason once it is aborted. Listens only so long: a stream that waits a
 * million times on one signal leaves nothing behind.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // Reasons are errors of ours, or the DOMException of an abort without one.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
