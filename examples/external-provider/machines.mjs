#!/usr/bin/env node
// A provider for Bellows in one file. Its machines are local processes (`sleep`); README.md says how
// to put a cloud in their place. JSON in, JSON out; all else goes to standard error.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const HOSTS_MAX = Number(process.env.MACHINES_MAX ?? 16);
const FORGET_AFTER_MS = 60 * 60_000; // far longer than a late launch can be under way
const print = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const fail = (words) => (console.error(words), process.exit(1));
const safe = (name) => (/^[\w.-]{1,200}$/.test(name) ? name : fail(`not a name: ${name}`));

const ask = JSON.parse(readFileSync(0, 'utf8'));
if (ask.format !== 'bellows-external/1') fail(`unknown format ${JSON.stringify(ask.format)}`);
// The tag: machines of a fleet live in its own folder, and no call looks into another's.
const folder = resolve(process.env.MACHINES_DIR ?? '.machines', `fleet-${safe(ask.fleet)}`);
const folderOf = (sliceId) => join(folder, `slice-${safe(sliceId)}`);
mkdirSync(folder, { recursive: true });

if (ask.call === 'list') print({ machines: list() });
else if (ask.call === 'launch') print({ outcomes: ask.requests.map(launch) });
else if (ask.call === 'terminate') print((ask.sliceIds.forEach(terminate), {}));
else fail(`unknown call ${JSON.stringify(ask.call)}`);

/** Idempotent: a slice that is there is accepted, however often it is asked for. */
function launch({ sliceId, group, hostCount, bootstrap }) {
  const refuse = (kind, detail) => ({ kind: 'refused', sliceId, refusal: { kind, detail } });
  const slice = folderOf(sliceId);
  // A launch that arrives after its release must not bring the slice back.
  if (existsSync(join(slice, 'released'))) return refuse('unknown', 'the slice was released');
  if (!existsSync(join(slice, 'tag.json'))) {
    // A soft limit: two calls at once may both see the last place. A cloud counts by itself.
    const used = list().filter(({ state }) => state !== 'gone').length;
    const detail = `${used} of ${HOSTS_MAX} machines are in use; ${hostCount} more do not fit`;
    if (used + hostCount > HOSTS_MAX) return refuse('stockout', detail);
    // First the tag, then the machines: after a crash in between, list and terminate know of them.
    mkdirSync(slice, { recursive: true });
    const draft = join(slice, `tag.${process.pid}`);
    writeFileSync(draft, JSON.stringify({ sliceId, group, hostCount }));
    renameSync(draft, join(slice, 'tag.json')); // atomic: nobody reads half of it
  }
  const env = {
    BELLOWS_SLICE: sliceId,
    BELLOWS_JOIN_TOKEN: bootstrap?.joinToken ?? '',
    BOOTSTRAP: bootstrap?.script ?? '',
    ATTEMPTS: `${bootstrap?.attemptsMax ?? 1}`,
    TIMEOUT_S: `${(bootstrap?.timeoutMs ?? 0) / 1000}`,
  };
  const hosts = Array.from({ length: hostCount }, (_, index) => index);
  for (const index of hosts) {
    if (existsSync(join(slice, `${index}.pid`))) continue; // there already, or there once
    startMachine(slice, index, { ...env, BELLOWS_HOST_INDEX: `${index}` });
  }
  return { kind: 'accepted', sliceId, machineIds: hosts.map((index) => `${sliceId}/${index}`) };
}

/** Marks the slice even if it never was: its launch may still be on its way. Twice is fine. */
function terminate(sliceId) {
  const slice = folderOf(sliceId);
  mkdirSync(slice, { recursive: true });
  writeFileSync(join(slice, 'released'), ''); // before we look: a machine that comes later sees it
  for (const name of readdirSync(slice)) {
    const pid = name.endsWith('.pid') ? pidOf(slice, name.slice(0, -'.pid'.length)) : null;
    try {
      if (pid !== null) process.kill(-pid, 'SIGKILL'); // the machine and what runs on it
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // gone already is success
    }
  }
}

/** Every machine of the fleet, whoever asked for it. */
function list() {
  return readdirSync(folder).flatMap((name) => {
    const slice = join(folder, name);
    const released = statSync(join(slice, 'released'), { throwIfNoEntry: false });
    const isOld = Date.now() - (released?.mtimeMs ?? Infinity) > FORGET_AFTER_MS;
    if (isOld) rmSync(slice, { recursive: true, force: true });
    if (isOld || !existsSync(join(slice, 'tag.json'))) return [];
    const { sliceId, group, hostCount } = JSON.parse(readFileSync(join(slice, 'tag.json'), 'utf8'));
    return Array.from({ length: hostCount }, (_, hostIndex) => {
      const state = stateOf(slice, hostIndex, released);
      return { machineId: `${sliceId}/${hostIndex}`, sliceId, group, hostIndex, state };
    });
  });
}

function stateOf(slice, index, released) {
  if (!existsSync(join(slice, `${index}.pid`))) return released ? 'gone' : 'starting';
  if (pidOf(slice, index) === null) return 'gone';
  if (released) return 'stopping';
  return existsSync(join(slice, `${index}.ready`)) ? 'ready' : 'running';
}

/** The machine writes down its own number, so no crash of ours can lose it. Of two, one wins (ln). */
function startMachine(slice, index, env) {
  const script = `echo $$ > $HOST.$$; ln $HOST.$$ $HOST.pid || exit; rm $HOST.$$
    [ -e released ] && exit
    until [ -z "$BOOTSTRAP" ] || timeout --foreground "$TIMEOUT_S" sh -c "$BOOTSTRAP"
    do ATTEMPTS=$((ATTEMPTS - 1)); [ "$ATTEMPTS" -gt 0 ] || exit; done
    touch $HOST.ready; exec sleep infinity`;
  // Of our environment it gets the PATH alone: the rest may hold secrets of Bellows.
  const { PATH } = process.env;
  const all = { PATH, ...env, HOST: `${index}`, MACHINE_TAG: join(slice, `${index}`) };
  // Detached and with no output of ours: it lives on, and nobody waits for it.
  spawn('sh', ['-c', script], { cwd: slice, env: all, detached: true, stdio: 'ignore' }).unref();
}

/** The number of the machine's process, if it lives and is truly ours: numbers are used again. */
function pidOf(slice, index) {
  try {
    const pid = Number(readFileSync(join(slice, `${index}.pid`), 'utf8'));
    // For a moment, while it becomes another program (exec), a living process has none to show.
    let environment = '';
    for (let n = 0; n < 10_000 && environment === ''; n++) {
      environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) break; // dead, and not buried
    }
    return environment.split('\0').includes(`MACHINE_TAG=${join(slice, `${index}`)}`) ? pid : null;
  } catch {
    return null; // no such process, or another user's: not ours
  }
}
