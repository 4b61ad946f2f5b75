// A scheduler of your own in 60 lines: it pushes what is pending, reports its hosts and obeys drains.
// Bellows gets the machines and gives them back. Plain JSON over HTTP; nothing to install.
import { spawn } from 'node:child_process';

const server = process.env['BELLOWS_SERVER'] ?? 'http://127.0.0.1:7070';
const token = process.env['BELLOWS_TOKEN'];
const HOST_CPU = 4;

interface Task { id: string; cpu: number; seconds: number; state: 'pending' | 'running' | 'done' }
interface Slice { id: string; status: string; hosts?: { index?: number }[] }
interface Order { sliceId: string; order: 'drain' | 'resume' }

const count = Number(process.argv[2] ?? 6);
const tasks = Array.from({ length: count }, (_, n): Task => ({ id: `task-${n}`, cpu: 2, seconds: 1 + (n % 3), state: 'pending' }));
const onHost = new Map<string, Set<Task>>(); // what runs where, by slice and host
const cordoned = new Set<string>(); // slices that Bellows asked us to empty

async function call<T>(method: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const reply = await fetch(`${server}/bellows.v1.AutoscalerService/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (await reply.json()) as T & { message?: string };
  if (!reply.ok) throw new Error(`${method}: ${answer.message}`);
  return answer;
}

function run(task: Task, host: Set<Task>): void {
  task.state = 'running';
  host.add(task);
  console.log(`${task.id} starts`);
  spawn('sleep', [String(task.seconds)]).on('exit', () => {
    task.state = 'done';
    host.delete(task);
    console.log(`${task.id} is done`);
  });
}

async function step(): Promise<void> {
  const { slices = [] } = await call<{ slices?: Slice[] }>('ListSlices', { statuses: ['ready', 'draining'], pageSize: 1000 });
  const reports = slices.flatMap((slice) => (slice.hosts ?? []).map(({ index = 0 }) => {
    const key = `${slice.id}/${index}`;
    const host = onHost.get(key) ?? new Set<Task>();
    onHost.set(key, host);
    const used = () => [...host].reduce((sum, { cpu }) => sum + cpu, 0);
    const isOpen = slice.status === 'ready' && !cordoned.has(slice.id);
    for (const task of tasks) {
      if (isOpen && task.state === 'pending' && used() + task.cpu <= HOST_CPU) run(task, host);
    }
    const drain = cordoned.has(slice.id) && host.size === 0 ? 'drained' : '';
    return { sliceId: slice.id, hostIndex: index, free: { cpu: HOST_CPU - used(), memory: 2 ** 33 }, busy: host.size > 0, drain };
  }));
  const { orders = [] } = await call<{ orders?: Order[] }>('ReportHosts', { reports });
  for (const { sliceId, order } of orders) order === 'drain' ? cordoned.add(sliceId) : cordoned.delete(sliceId);
  const entries = tasks.filter(({ state }) => state === 'pending')
    .map(({ id, cpu }) => ({ id, single: { resources: { cpu, memory: 2 ** 30 } } }));
  await call('PushDemand', { source: 'own-scheduler', generation: Date.now(), entries, ttl: '60s' });
}

while (tasks.some(({ state }) => state !== 'done')) {
  await step().catch((error: unknown) => console.error(String(error))); // a controller that restarts is no reason to stop
  await new Promise((resolve) => setTimeout(resolve, 250));
}
console.log('all tasks are done; waiting for the hosts to be drained');
for (let left = 1; left > 0; await new Promise((resolve) => setTimeout(resolve, 250))) {
  await step().catch((error: unknown) => console.error(String(error)));
  left = (await call<{ totalCount?: number }>('ListSlices', {}).catch(() => ({ totalCount: 1 }))).totalCount ?? 0;
}
console.log('no slice is left');
