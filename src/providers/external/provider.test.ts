import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { never } from '../../../test/contract/provider-driver.ts';
import { aRequest, bootstrap, folder, openWith, SECRET } from '../../../test/external-bench.ts';
import { sliceId } from '../../model/ids.ts';

describe('what the program is told', () => {
  const keep = `require('fs').writeFileSync('told.json', require('fs').readFileSync(0));`;
  const told = (): unknown => JSON.parse(readFileSync(join(folder, 'told.json'), 'utf8'));

  test('of a list: the fleet', async () => {
    const { provider } = openWith(`${keep} console.log('{"machines":[]}')`);
    expect(await provider.list(never())).toEqual([]);
    expect(told()).toEqual({ format: 'bellows-external/1', call: 'list', fleet: 'research' });
  });

  test('of a launch: all of the request, amounts as people write them, the secret itself', async () => {
    const { provider } = openWith(
      `${keep} console.log('{"outcomes":[{"kind":"accepted","sliceId":"s-1"}]}')`,
    );
    const outcomes = await provider.launch([aRequest('s-1', { bootstrap })], never());
    expect(outcomes).toEqual([{ kind: 'accepted', sliceId: 's-1', machineIds: [] }]);
    const { script, attemptsMax, timeoutMs } = bootstrap;
    expect(told()).toEqual({
      format: 'bellows-external/1',
      call: 'launch',
      fleet: 'research',
      requests: [
        {
          sliceId: 's-1',
          group: 'l4',
          hostCount: 2,
          host: { cpu: 16, gpu: 0.5, memory: 68_719_476_736 },
          device: { type: 'gpu', variant: 'L4' },
          preemptible: true,
          attributes: { zone: 'a' },
          launch: { image: 'debian' },
          bootstrap: { script, joinToken: SECRET, attemptsMax, timeoutMs },
        },
      ],
    });
  });

  test('of a release: the slices; and the environment that was added', async () => {
    const { provider } = openWith(`${keep} console.log(process.env.ANSWER)`, {
      env: { ANSWER: '{}' },
    });
    await provider.terminate([sliceId('s-1'), sliceId('s-2')], never());
    expect(told()).toMatchObject({ call: 'terminate', sliceIds: ['s-1', 's-2'] });
  });

  test('of a launch without its secret: nothing; it is refused with a remedy', async () => {
    const { provider } = openWith('process.exit(1)');
    const request = aRequest('s-1', { bootstrap: { ...bootstrap, joinToken: 'OTHER' } });
    const [outcome] = await provider.launch([request], never());
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { kind: 'permanent' } });
    expect(JSON.stringify(outcome)).toContain('group l4 names OTHER, which is not set; set that');
  });
});

describe('what it says on standard error', () => {
  test('goes to the log line by line, within bounds', async () => {
    const { provider, eventsOf } = openWith(
      `for (let i = 0; i < 150; i++) console.error('line ' + i + '.'.repeat(i === 7 ? 9999 : 0));
       console.log('{"machines":[]}')`,
    );
    await provider.list(never());
    const said = eventsOf('external-program-said');
    expect(said).toHaveLength(100);
    expect(said[3]).toEqual([
      'info',
      'external-program-said',
      { provider: 'mine', call: 'list', line: 'line 3' },
    ]);
    expect(String(said[7]?.[2]['line'])).toHaveLength(300);
    expect(eventsOf('external-program-said-more')[0]?.[2]).toMatchObject({ lines: 50 });
  });

  test('problems of rows go there too, and only so many', async () => {
    const row = `{ machineId: 'm', sliceId: 's', group: 'g', hostIndex: 0, state: 'ready' }`;
    const { provider, eventsOf } = openWith(
      `console.log(JSON.stringify({ machines: [...Array(50).fill({}), ${row}] }))`,
    );
    expect(await provider.list(never())).toHaveLength(1);
    expect(eventsOf('external-answer-problem')).toHaveLength(20);
    expect(eventsOf('external-answer-problems-more')[0]?.[2]).toMatchObject({ problems: 30 });
  });
});

describe('a secret', () => {
  const read = `const told = require('fs').readFileSync(0, 'utf8'); const { joinToken } = JSON.parse(told).requests[0].bootstrap;`;
  test.each([
    ['in an answer that is no answer', `console.log('x', joinToken, told)`],
    [
      'in a field',
      `console.log(JSON.stringify({ outcomes: [{ kind: joinToken, sliceId: 's-1' }] }))`,
    ],
    [
      'in what it said last',
      `console.error(told); console.error('x', joinToken); process.exitCode = 1`,
    ],
    [
      'in a refusal',
      `console.log(JSON.stringify({ outcomes: [{ kind: 'refused', sliceId: 's-1', refusal: { kind: 'unknown', detail: joinToken + told } }] }))`,
    ],
  ])('%s stays one', async (_name, code) => {
    const { provider, lines } = openWith(`${read} ${code}`);
    const request = aRequest('s-1', { bootstrap });
    const answered: unknown = await provider.launch([request], never()).catch(String);
    expect(JSON.stringify([answered, lines])).toContain('[secret]');
    expect(JSON.stringify([answered, lines])).not.toMatch(/hush|quoted/);
  });
});
