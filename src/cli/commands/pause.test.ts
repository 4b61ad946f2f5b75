import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { inSeconds } from '../../../test/wire-messages.ts';
import { type Routes, runAgainst } from '../../../test/wire-server.ts';
import { runPause } from './pause.ts';
import { runProtect } from './protect.ts';
import { runReload } from './reload.ts';
import { runResume } from './resume.ts';

/** Keeps every request it answers. */
function serving() {
  const asked: unknown[] = [];
  const keep = <T>(request: unknown, answer: T): T => {
    asked.push(request);
    return answer;
  };
  const routes: Routes = {
    pause: (request) =>
      keep(request, {
        pauseId: 'pause-7',
        ...(request.ttl === undefined ? {} : { until: inSeconds(7_200) }),
      }),
    resume: (request) =>
      keep(request, { pauseIds: request.pauseId === '' ? ['pause-7', 'pause-8'] : [] }),
    protectSlice: (request) => keep(request, {}),
    reloadConfig: (request) =>
      keep(request, {
        changes: ['max of h100: 6 -> 8', 'group l4-spot is gone: 2 slices drain'],
        launchesBefore: 1,
        launchesAfter: 3,
        releasesBefore: 0,
        releasesAfter: 2,
        usdPerHourBefore: 98.32,
        usdPerHourAfter: 294.4,
      }),
  };
  return { routes, asked };
}

test('a pause of a group for a while', async () => {
  const { routes, asked } = serving();
  const over = { what: 'launches', group: 'h100', for: '2h', reason: 'quota talks' };
  const run = await runAgainst(routes, (options, around) =>
    runPause({ ...options, ...over }, around),
  );
  expect(run.stdout).toBe(
    'paused launches of group h100 until 11:14:07 (in 2h)\nend it with: bellows resume pause-7\n',
  );
  expect(asked).toMatchObject([
    {
      what: 'launches',
      group: 'h100',
      reason: 'quota talks',
      author: 'ana',
      ttl: { seconds: 7_200n },
    },
  ]);
});

test('a pause of everything until somebody ends it', async () => {
  const { routes, asked } = serving();
  const run = await runAgainst(routes, (options, around) =>
    runPause({ ...options, reason: 'maintenance' }, around),
  );
  expect(run.stdout).toBe(
    'paused launches and terminations of the whole fleet\nend it with: bellows resume pause-7\n',
  );
  expect(asked).toMatchObject([{ what: 'both', group: '' }]);
});

test.each([
  ['no reason', {}, '--reason is missing; say why, for those who ask later\n'],
  [
    'something else',
    { what: 'launch', reason: 'x' },
    '--what: "launch" is not known; did you mean launches?\n',
  ],
  [
    'no time',
    { for: 'ever', reason: 'x' },
    '--for: "ever" is not a duration; write for example 90s, 10m, 1h30m, 500ms or 2d\n',
  ],
])('a pause of %s is refused', async (_name, over, stderr) => {
  const run = await runAgainst(serving().routes, (options, around) =>
    runPause({ ...options, ...over }, around),
  );
  expect(run).toEqual({ exit: 2, stdout: '', stderr });
});

test('resuming says what ended', async () => {
  const { routes, asked } = serving();
  const resume = (id?: string) =>
    runAgainst(routes, (options, around) => runResume(id, options, around));
  expect((await resume()).stdout).toBe('resumed: 2 pauses ended (pause-7, pause-8)\n');
  expect((await resume('pause-9')).stdout).toBe('nothing was paused\n');
  expect(asked).toMatchObject([{ pauseId: '' }, { pauseId: 'pause-9' }]);
});

test('a slice is protected, and no longer', async () => {
  const { routes, asked } = serving();
  const protect = (over: object) =>
    runAgainst(routes, (options, around) => runProtect('s-1', { ...options, ...over }, around));
  expect((await protect({})).stdout).toBe(
    'slice s-1 is protected: no scale-down touches it until bellows protect s-1 --undo\n',
  );
  expect((await protect({ undo: true })).stdout).toBe(
    'slice s-1 is no longer protected: scale-down may touch it\n',
  );
  expect((await protect({ json: true })).stdout).toBe('{}\n');
  expect(asked).toMatchObject([{ sliceId: 's-1', undo: false }, { undo: true }, {}]);
});

test('a reload says what changes, and a dry run that nothing did', async () => {
  const { routes, asked } = serving();
  const reload = (over: object) =>
    runAgainst(routes, (options, around) => runReload({ ...options, ...over }, around));
  const text = `CONFIG  2 things would change
  max of h100: 6 -> 8
  group l4-spot is gone: 2 slices drain

NEXT DECISION
              before    after
  launches         1        3
  given back       0        2
  $/h then    $98.32  $294.40
nothing was changed; \`bellows reload\` does it
`;
  expect((await reload({ dryRun: true })).stdout).toBe(text);
  expect((await reload({})).stdout).toMatch(/^CONFIG {2}2 things changed\n/);
  expect(asked).toMatchObject([{ dryRun: true }, { dryRun: false }]);
});

test('a reload of a file with mistakes is refused with all of them', async () => {
  const problems =
    'bellows.yaml:3:4 groups[0].max: 3 is below min 5; raise max or lower min\n' +
    'bellows.yaml:9:1 gropus: unknown key "gropus"; did you mean groups?';
  const routes: Routes = {
    reloadConfig: () => {
      throw new ConnectError(problems, Code.FailedPrecondition);
    },
  };
  const run = await runAgainst(routes, (options, around) => runReload(options, around));
  expect(run).toEqual({ exit: 1, stdout: '', stderr: `${problems}\n` });
});

test('a reload that changes nothing says so', async () => {
  const run = await runAgainst({ reloadConfig: () => ({}) }, (options, around) =>
    runReload(options, around),
  );
  expect(run.stdout).toBe('the configuration is read; nothing changes\n');
});
