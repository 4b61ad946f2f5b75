import { expect, test } from 'vitest';
import { parseConfig } from './config-file.ts';
import { defaultConfigText } from './default-config.ts';

test('is a configuration without fault, of processes that cost nothing', () => {
  const parsed = parseConfig(defaultConfigText, 'default');
  expect(parsed).toMatchObject({
    kind: 'ok',
    config: {
      settings: { fleet: 'local', loop: { evaluationInterval: 1_000 } },
      control: { groups: [{ unreported: 'idle', bootstrap: null }] },
      fleet: { groups: [{ name: 'local', provider: 'local', priceMicroUsdPerHour: 0 }] },
    },
  });
});
