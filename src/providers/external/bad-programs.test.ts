import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { never } from '../../../test/contract/provider-driver.ts';
import {
  aRequest,
  bootstrap,
  errorOf,
  folder,
  isAlive,
  type Line,
  openWith,
  until,
} from '../../../test/external-bench.ts';
import { sliceId } from '../../model/ids.ts';
import type { Provider } from '../../ports/provider.ts';

describe('a program that fails', () => {
  test.each([
    [
      'prints nothing',
      '',
      'garbage',
      /^provider mine, list: the program printed nothing; print one JSON document on standard output, and all else on standard error$/,
    ],
    [
      'prints words',
      `console.log('Hello\\n', 'x'.repeat(500))`,
      'garbage',
      /: the answer is not JSON; print .*; it printed: Hello x{191,}…$/,
    ],
    [
      'prints half an answer',
      `console.log('{"machines":[')`,
      'garbage',
      /not JSON.*it printed: \{"machines":\[$/,
    ],
    [
      'prints a log before it',
      `console.log('start'); console.log('{"machines":[]}')`,
      'garbage',
      /not JSON.*printed: start \{"machines":\[\]\}$/,
    ],
    [
      'prints what is no text',
      `process.stdout.write(Buffer.from([0x22, 0xff, 0x22]))`,
      'garbage',
      /not UTF-8/,
    ],
    [
      'prints another answer',
      `console.log('{"outcomes":[]}')`,
      'garbage',
      /: machines is missing; the answer must be \{"machines": \[\.\.\.\]\}; it printed: \{"outcomes":\[\]\}$/,
    ],
    [
      'prints garbage rows alone',
      `console.log('{"machines":[{"machineId":"a"}]}')`,
      'garbage',
      /: no machine of the list can be used; machines\[0\] \("a"\): sliceId is missing/,
    ],
    [
      'ends with 3',
      `console.error('first'); console.error('no such zone\\n'); process.exitCode = 3`,
      'unreachable',
      /: the program ended with exit code 3: no such zone$/,
    ],
    [
      'ends with 3 in silence',
      `process.exit(3)`,
      'unreachable',
      /exit code 3: it said nothing on standard error$/,
    ],
    [
      'ends with 75: try later',
      `console.error('slow down'); process.exitCode = 75`,
      'throttled',
      /exit code 75: slow down$/,
    ],
    [
      'ends with 77: not allowed',
      `console.error('key expired'); process.exitCode = 77`,
      'denied',
      /exit code 77: key expired$/,
    ],
    [
      'fails after its answer',
      `console.log('{"machines":[]}'); process.exitCode = 1`,
      'unreachable',
      /exit code 1/,
    ],
    [
      'is killed',
      `process.kill(process.pid, 'SIGKILL')`,
      'unreachable',
      /: the program was ended by SIGKILL, not by Bellows/,
    ],
    [
      'prints without end',
      `setInterval(() => process.stdout.write('x'.repeat(9999)), 1)`,
      'garbage',
      /: the program printed more than 100000 bytes and was ended; raise outputMax, or print the answer alone$/,
    ],
  ] as const)('%s', async (_name, code, kind, message) => {
    const { provider } = openWith(code);
    const error = await errorOf(provider.list(never()));
    expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(message)]);
    expect(error.message.length).toBeLessThan(700);
  });

  test('a release needs an answer too', async () => {
    const { provider } = openWith('console.log("[]")');
    const error = await errorOf(provider.terminate([sliceId('s-1')], never()));
    expect(error.message).toContain('terminate: [] is not an object; the answer must be {}');
  });

  test.each([
    [
      'is not there',
      './no-such',
      folder,
      'unreachable',
      /"\.\/no-such" cannot be started: no such program in PATH or, with a "\/"/,
    ],
    [
      'may not be executed',
      './plain',
      folder,
      'denied',
      /cannot be started: it is not a file that may be executed \(EACCES\); chmod \+x it/,
    ],
    [
      'has no interpreter',
      './no-shebang',
      folder,
      'unreachable',
      /correct the first word of command, or the first line \(#!\)/,
    ],
    ['is a folder', '/', folder, 'denied', /EACCES/],
    [
      'has a name that none can have',
      'a\0b',
      folder,
      'unreachable',
      /cannot be started: ERR_INVALID_ARG_VALUE/,
    ],
    [
      'runs in a folder that is not there',
      process.execPath,
      join(folder, 'none'),
      'unreachable',
      /cannot be started: the folder .*none that it runs in is not there/,
    ],
  ] as const)('%s', async (_name, program, cwd, kind, message) => {
    writeFileSync(join(folder, 'plain'), 'x');
    writeFileSync(join(folder, 'no-shebang'), '#!/no/such/interpreter\n');
    chmodSync(join(folder, 'no-shebang'), 0o755);
    const { provider } = openWith('', { command: [program], cwd });
    const error = await errorOf(provider.list(never()));
    expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(message)]);
  });
});

describe('a program that does not care for its input', () => {
  // More than a pipe holds.
  const big = aRequest('s-1', { bootstrap: { ...bootstrap, script: '#'.repeat(1_000_000) } });
  const answer = `console.log('{"outcomes":[{"kind":"accepted","sliceId":"s-1"}]}')`;

  test.each([
    ['never reads it', answer],
    ['closes it at once', `require('fs').closeSync(0); ${answer}`],
    ['reads a little', `require('fs').readSync(0, Buffer.alloc(10)); ${answer}`],
  ])('%s, and is heard', async (_name, code) => {
    const { provider } = openWith(code);
    expect(await provider.launch([big], never())).toMatchObject([{ kind: 'accepted' }]);
  });
});

describe('a program that leaves something behind', () => {
  test('that holds its output is heard when it exits, and told of', async () => {
    const { provider, eventsOf } = openWith(`
      const child = require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
      child.unref();
      console.error(child.pid);
      console.log('{"machines":[]}');
      setImmediate(() => process.exit(0));`);
    expect(await provider.list(never())).toEqual([]);
    const [, , { line = '' } = {}] = eventsOf('external-program-said')[0] ?? [];
    const pid = Number(line);
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(eventsOf('external-program-held-open')).toHaveLength(1);
    // It may be a machine: it is not ours to end.
    expect(isAlive(pid)).toBe(true);
  });
});

describe('ending a program', () => {
  // Parent and child both ignore the gentle signal.
  const stubborn = `
    const code = "process.on('SIGTERM', () => 0); console.error('up ' + process.pid); setInterval(() => 0, 1000)";
    if (process.argv[1] !== 'child') require('child_process').spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
    eval(code);`;
  const pidsOf = (events: readonly Line[]): readonly number[] =>
    events.map(([, , { line = '' }]) => Number(String(line).slice('up '.length)));

  async function begin(call: (provider: Provider, signal: AbortSignal) => Promise<unknown>) {
    const { provider, eventsOf } = openWith(stubborn);
    const abort = new AbortController();
    const error = errorOf(call(provider, abort.signal));
    const pids = await until(() => {
      const seen = pidsOf(eventsOf('external-program-said'));
      return seen.length === 2 && seen;
    });
    return { provider, abort, error, pids };
  }

  test('at the deadline it rejects at once, and the whole group is ended', async () => {
    const { abort, error, pids } = await begin((provider, signal) => provider.list(signal));
    abort.abort();
    const { kind, message } = await error;
    expect(kind).toBe('timeout');
    expect(message).toMatch(/^provider mine, list: the program had not answered by the deadline/);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await until(() => !pids.some(isAlive));
  });

  test('close ends running calls, and later ones reject', async () => {
    const { provider, error, pids } = await begin((it, signal) => it.list(signal));
    await provider.close();
    expect((await error).message).toBe('provider mine, list: the provider is closed');
    // The signal is sent to all of them; the kernel may take a moment.
    await until(() => !pids.some(isAlive));
    const late = await errorOf(provider.terminate([], never()));
    expect(late.kind).toBe('unreachable');
  });

  test('a program that heeds the gentle signal has time to clean up', async () => {
    const { provider, eventsOf } = openWith(`
      process.on('SIGTERM', () => setTimeout(() => {
        require('fs').writeFileSync('cleaned-up', '');
        process.exit(0);
      }, 50));
      console.error('up');
      setInterval(() => 0, 1000);`);
    const abort = new AbortController();
    const error = errorOf(provider.list(abort.signal));
    await until(() => eventsOf('external-program-said').length === 1);
    abort.abort();
    expect((await error).kind).toBe('timeout');
    await provider.close();
    expect(existsSync(join(folder, 'cleaned-up'))).toBe(true);
  });
});
