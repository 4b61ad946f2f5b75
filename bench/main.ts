import { benchController } from './controller.ts';
import { benchGang } from './gang.ts';
import { benchPack } from './pack.ts';
import { benchPush } from './push.ts';
import { benchReplay } from './replay.ts';
import { benchService } from './service.ts';
import { benchStatus } from './status.ts';
import { benchTick } from './tick.ts';
import { benchUtilization } from './utilization.ts';

// npm run bench                 all of them
// npm run bench -- pack         one of them, with its flags

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  pack: benchPack,
  utilization: benchUtilization,
  tick: benchTick,
  replay: benchReplay,
  gang: benchGang,
  controller: benchController,
  service: benchService,
  push: benchPush,
  status: benchStatus,
};

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !name.startsWith('--') && benches[name] === undefined) {
  console.error(`bench: there is no "${name}"; there is ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  const isOne = name !== undefined && !name.startsWith('--');
  const chosen = Object.entries(benches).filter(([one]) => !isOne || one === name);
  const rest = isOne ? args : process.argv.slice(2);
  for (const [one, bench] of chosen) {
    if (chosen.length > 1) console.log(`\n${one}`);
    await bench(rest);
  }
}
