export type LogLevel = 'info' | 'warn' | 'error';

/** One line per decision that changed something and per refusal; ids as fields, no prose to parse. */
export interface Log {
  write(
    level: LogLevel,
    event: string,
    fields: Readonly<Record<string, string | number | boolean | null>>,
  ): void;
}
