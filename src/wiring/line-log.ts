import type { Log, LogLevel } from '../ports/log.ts';

/** Fields of a line that people read are cut to this. */
const VALUE_LENGTH_MAX = 300;

/**
 * One line per thing that happened, on standard error: JSON for programs, short for people at a
 * terminal.
 */
export function createLineLog(options: {
  readonly isTerminal: boolean;
  readonly write: (line: string) => void;
}): Log {
  return {
    write(level, event, fields) {
      const at = new Date();
      const line = options.isTerminal
        ? renderLine(at, level, event, fields)
        : JSON.stringify({ at: at.toISOString(), level, event, ...fields });
      options.write(`${line}\n`);
    },
  };
}

type Fields = Parameters<Log['write']>[2];

function renderLine(at: Date, level: LogLevel, event: string, fields: Fields): string {
  const time = at.toTimeString().slice(0, 8);
  const words = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${quote(String(value))}`);
  const mark = level === 'info' ? '' : ` ${level.toUpperCase()}`;
  return [`${time}${mark} ${event}`, ...words].join(' ');
}

/** Quoted where it would not be one word; control characters never reach a terminal. */
function quote(value: string): string {
  const short = value.slice(0, VALUE_LENGTH_MAX);
  return /^[\w./:@+-]+$/.test(short) ? short : JSON.stringify(short);
}
