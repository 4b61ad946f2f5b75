import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { providerContract } from '../../../test/contract/provider.ts';
import type { OpenBench } from '../../../test/contract/provider-driver.ts';
import { groupName, sliceId } from '../../model/ids.ts';
import type { Provider } from '../../ports/provider.ts';
import { never } from '../../../test/contract/provider-driver.ts';
import { openExternalProvider } from './provider.ts';

// The example that operators start from is held to the same rules as every adapter.
const program = fileURLToPath(
  new URL('../../../examples/external-provider/machines.mjs', import.meta.url),
);

const open: OpenBench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-external-'));
  const env = { MACHINES_DIR: folder, MACHINES_MAX: '100' };
  const connectTo = (fleet: string): Provider =>
    openExternalProvider({
      name: 'mine',
      fleet,
      command: [process.execPath, program],
      cwd: folder,
      outputMaxBytes: 1_000_000,
      env,
      secretOf: () => undefined,
      log: { write: () => undefined },
      listLagMs: 0,
    });
  let mintedCount = 0;
  const request = (hostCount: number) => ({
    sliceId: sliceId(`small-0-1-${mintedCount++}`),
    group: groupName('small'),
    hostCount,
    host: { cpu: 1_000 },
    device: { type: 'cpu', variant: null },
    preemptible: false,
    attributes: {},
    launch: {},
    bootstrap: null,
  });
  const others = connectTo('others');
  const foreign = { ...request(2), sliceId: sliceId('foreign-0') };
  await others.launch([foreign], never());
  const provider = connectTo('ours');
  return {
    provider,
    connect: () => Promise.resolve(connectTo('ours')),
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    stepMs: 10,
    request,
    hostCountMax: 3,
    answerWithinMs: 20_000,
    readyWithinMs: 500,
    goneWithinMs: 500,
    foreign: {
      sliceId: foreign.sliceId,
      aliveCount: async () => {
        const machines = await others.list(never());
        return machines.filter(({ state }) => state !== 'gone').length;
      },
    },
    close: async () => {
      await Promise.all([provider.close(), others.close()]);
      for (const fleet of ['ours', 'others']) releaseAll(fleet, env);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Asks the program itself, as an operator would by hand: the providers are closed by now. */
function releaseAll(fleet: string, env: Readonly<Record<string, string>>): void {
  const ask = (call: object): string =>
    spawnSync(process.execPath, [program], {
      input: JSON.stringify({ format: 'bellows-external/1', fleet, ...call }),
      env: { ...process.env, ...env },
      encoding: 'utf8',
    }).stdout;
  const { machines }: { machines: readonly { sliceId: string }[] } = JSON.parse(
    ask({ call: 'list' }),
  );
  if (machines.length > 0) {
    ask({ call: 'terminate', sliceIds: machines.map((machine) => machine.sliceId) });
  }
}

providerContract('a program (examples/external-provider)', open);
