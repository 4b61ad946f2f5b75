/** Where a command prints. Colours only on a terminal, and never when NO_COLOR is set. */
export interface Output {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly hasColour: boolean;
  /** Standard error is a terminal, so that a line may be written over. */
  readonly hasProgress: boolean;
}

/** Exit codes: what scripts and CI branch on. */
export const exitCodes = { ok: 0, failed: 1, badInput: 2, interrupted: 130 } as const;

export function openOutput(): Output {
  const { env, stdout, stderr } = process;
  // A reader that goes away (`bellows plan | head`) is no error of ours; a full disk is nobody's bug.
  const leave = (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    stderr.write(`bellows: the output could not be written: ${error.message}\n`);
    process.exit(exitCodes.failed);
  };
  stdout.on('error', leave);
  const isRefused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return {
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void stderr.write(text),
    hasColour: stdout.isTTY && !isRefused && env['TERM'] !== 'dumb',
    hasProgress: stderr.isTTY && env['TERM'] !== 'dumb',
  };
}
