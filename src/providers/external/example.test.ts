import { fileURLToPath } from 'node:url';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { never } from '../../../test/contract/provider-driver.ts';
import { aRequest, bootstrap, folder, openWith } from '../../../test/external-bench.ts';
import type { Machine } from '../../model/machine.ts';
import type { Provider } from '../../ports/provider.ts';

const program = fileURLToPath(
  new URL('../../../examples/external-provider/machines.mjs', import.meta.url),
);

/** The example with room for three machines; what is left of them is released in the end. */
function openExample(): Provider {
  const MACHINES_DIR = mkdtempSync(join(folder, 'machines-'));
  const { provider } = openWith('', {
    command: [process.execPath, program],
    env: { MACHINES_DIR, MACHINES_MAX: '3' },
  });
  onTestFinished(async () => {
    const machines = await provider.list(never());
    await provider.terminate([...new Set(machines.map(({ sliceId }) => sliceId))], never());
  });
  return provider;
}

async function untilAll(provider: Provider, state: Machine['state']): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const states = (await provider.list(never())).map((machine) => machine.state);
    if (states.length > 0 && states.every((one) => one === state)) return;
    if (Date.now() > deadlineMs) throw new Error(`the machines are ${states.join(', ')}`);
  }
}

// What the shell expects of the secret is the one that the bench gives out.
test.each([
  [
    'that ends well makes a host ready',
    `test "$BELLOWS_JOIN_TOKEN" = 'hush-"quoted"-token'`,
    'ready',
  ],
  [
    'that ends well in the second run too',
    'mkdir first-$BELLOWS_HOST_INDEX && exit 1; exit 0',
    'ready',
  ],
  ['that is not done leaves it running', 'sleep 600', 'running'],
  ['that fails ends it', 'exit 1', 'gone'],
] as const)('a bootstrap %s', async (_name, script, state) => {
  const provider = openExample();
  const request = aRequest('s-1', { bootstrap: { ...bootstrap, script } });
  expect(await provider.launch([request], never())).toMatchObject([{ kind: 'accepted' }]);
  await untilAll(provider, state);
});

test('what does not fit is refused, what is there is accepted again', async () => {
  const provider = openExample();
  const [here, tooMuch] = [aRequest('s-1'), aRequest('s-2')];
  expect(await provider.launch([here, tooMuch], never())).toMatchObject([
    { kind: 'accepted', machineIds: ['s-1/0', 's-1/1'] },
    {
      kind: 'refused',
      refusal: { kind: 'stockout', detail: '2 of 3 machines are in use; 2 more do not fit' },
    },
  ]);
  expect(await provider.launch([here], never())).toMatchObject([{ kind: 'accepted' }]);
  await provider.terminate([here.sliceId], never());
  await untilAll(provider, 'gone');
  expect(await provider.launch([tooMuch], never())).toMatchObject([{ kind: 'accepted' }]);
});
