/** Something that is needed for a start cannot be had; the message says what and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
