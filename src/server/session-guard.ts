import { constants, type ServerHttp2Session } from 'node:http2';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { Buckets } from './rate.ts';

export interface SessionRules {
  readonly clock: Clock;
  readonly log: Log;
  readonly idleMs: number;
  /** Resets, pings and settings at once; a tenth of it per second is fine for ever. */
  readonly sessionStrikesMax: number;
}

/**
 * HTTP/2 lets a client make the server work at no cost of its own: opening and resetting streams
 * (CVE-2023-44487), pings and settings that must be answered. Each is rare in honest use; a session
 * with too many is closed.
 */
export function guardSession(session: ServerHttp2Session, rules: SessionRules): void {
  const { clock, log, idleMs, sessionStrikesMax } = rules;
  const strikes = new Buckets({ perSecond: sessionStrikesMax / 10, burst: sessionStrikesMax });
  const strike = (what: string): void => {
    if (session.destroyed || strikes.take(what, clock.monotonicMs()).kind === 'taken') return;
    log.write('warn', 'session-closed', { why: `too many ${what}` });
    session.destroy(new Error(`too many ${what}`), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on('stream', (stream) => {
    stream.once('close', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) strike('resets');
    });
  });
  session.on('ping', () => strike('pings'));
  session.on('remoteSettings', () => strike('settings'));
  // Ends the session by itself; here only so that it is no uncaught one.
  session.on('error', () => undefined);
  session.setTimeout(idleMs, () => session.destroy());
}
