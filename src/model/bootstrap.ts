/** How software gets onto a host. */
export interface Bootstrap {
  /** Run by a shell on each host, once it is up. It ends with 0 when the host is ready for work. */
  readonly script: string;
  /** Name of the secret that the script may join with; the secret itself is never recorded. */
  readonly joinToken: string | null;
  /** Runs of the script before the host is given up. */
  readonly attemptsMax: number;
  /** For one run. */
  readonly timeoutMs: number;
}
