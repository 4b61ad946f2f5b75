/** Where a command prints. Colours only on a terminal, and never when NO_COLOR is set. */
export interface Output {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly hasColour: boolean;
}

/** Exit codes: what scripts and CI branch on. */
export const exitCodes = { ok: 0, failed: 1, badInput: 2 } as const;

export function openOutput(): Output {
  const { env, stdout, stderr } = process;
  // A reader that goes away (`bellows plan | head`) is no error of ours.
  const leaveQuietly = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  };
  stdout.on('error', leaveQuietly);
  const isRefused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return {
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void stderr.write(text),
    hasColour: stdout.isTTY && !isRefused && env['TERM'] !== 'dumb',
  };
}
