import { fileURLToPath } from 'node:url';
import { findProgramFile } from '../../programs/program-file.ts';

/** Where the program of a host is. */
export const findHostFile = async (): Promise<string> =>
  fileURLToPath(await findProgramFile('providers/local/host-main.ts'));
