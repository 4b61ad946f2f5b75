/** A bug planted on purpose: the simulation must notice it. */
export interface Mutation {
  readonly name: string;
  /** What would go wrong in a real fleet. */
  readonly harm: string;
  readonly edits: readonly Edit[];
}

/** `find` occurs once in the file. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const mutations: readonly Mutation[] = [
  {
    name: 'double-launch',
    harm: 'capacity on its way is forgotten, so that work is bought for twice',
    edits: [
      {
        file: 'src/planner/prepare.ts',
        find: 'const graced = withGrace(input);',
        replace:
          "const graced = withGrace({ ...input, slices: input.slices.filter(({ status }) => status !== 'requesting') });",
      },
    ],
  },
  {
    name: 'act-before-record',
    harm: 'a crash between the call and the record leaves a machine nobody knows of',
    edits: [
      {
        file: 'src/controller/controller.ts',
        find: 'if (isNews) await this.#commit(',
        replace: 'this.#act();\n      if (isNews) await this.#commit(',
      },
    ],
  },
  {
    name: 'forget-on-timeout',
    harm: 'machines of a request that timed out are nobody’s',
    edits: [
      {
        file: 'src/lifecycle/transitions.ts',
        find: "refused: 'failed',\n    cancelled: 'terminating',\n    'timed-out': 'terminating',",
        replace: "refused: 'failed',\n    cancelled: 'terminating',\n    'timed-out': 'failed',",
      },
      {
        file: 'src/controller/act.ts',
        find: 'if (record !== undefined && isLive(record)) continue;',
        replace: 'if (record !== undefined) continue;',
      },
    ],
  },
  {
    name: 'kill-busy-slice',
    harm: 'a drain that takes too long ends work that scale-down may not end',
    edits: [
      {
        file: 'src/lifecycle/advance.ts',
        find: 'if (isForced || !record.isReported) {',
        replace: 'if (nowMs > 0) {',
      },
    ],
  },
  {
    name: 'release-before-drained',
    harm: 'work that landed before the cordon is ended',
    edits: [
      {
        file: 'src/lifecycle/advance.ts',
        find: "answers.every((answer) => answer === 'drained')",
        replace: "answers.every((answer) => answer !== 'refused')",
      },
    ],
  },
  {
    name: 'skip-fencing',
    harm: 'a controller that was stopped for a while acts beside its successor',
    edits: [
      {
        file: 'src/controller/leadership.ts',
        find: 'get isDue(): boolean {',
        replace: 'get isDue(): boolean {\n    if (this.#epoch !== null) return false;',
      },
    ],
  },
  {
    name: 'believe-one-list',
    harm: 'a list that lags makes healthy slices be torn down',
    edits: [
      {
        file: 'src/lifecycle/advance.ts',
        find: 'const isMissing = listedMs !== null && listedMs > lastSeenMs + listLagMs;',
        replace: 'const isMissing = listedMs !== null && listedMs > lastSeenMs;',
      },
    ],
  },
  {
    name: 'acknowledge-early',
    harm: 'a crash loses a push that was acknowledged',
    edits: [
      {
        file: 'src/controller/controller.ts',
        find: 'const answers = commands.map(({ command }) => obey(command, out, take));',
        replace:
          'const answers = commands.map(({ command }) => obey(command, out, take));\n      commands.forEach(({ resolve }, index) => resolve(must(answers[index], "one")));',
      },
    ],
  },
  {
    name: 'ignore-min',
    harm: 'idle slices of a group go below its min, are bought again, and so on for ever',
    edits: [
      {
        file: 'src/planner/ready.ts',
        find: 'if (left.surplus <= 0) {',
        replace: 'if (left.surplus <= -99) {',
      },
    ],
  },
  {
    name: 'ignore-spare',
    harm: 'spare slices go and come for ever',
    edits: [
      {
        file: 'src/planner/ready.ts',
        find: 'if (fromEnd <= keep.used + keep.spare) return',
        replace: 'if (fromEnd <= keep.used - keep.spare) return',
      },
    ],
  },
  {
    name: 'release-once',
    harm: 'a release that the provider forgot costs money for ever',
    edits: [
      {
        file: 'src/controller/act.ts',
        find: 'if (releaseAcceptedMs !== null && releaseAcceptedMs >= record.statusSinceMs) return false;',
        replace: 'if (releaseAcceptedMs !== null) return false;',
      },
    ],
  },
  {
    name: 'no-boot-timeout',
    harm: 'a slice that never comes up is waited for for ever',
    edits: [
      {
        file: 'src/lifecycle/timeouts.ts',
        find: 'return timeouts.bootingMs;',
        replace: 'return null;',
      },
    ],
  },
  {
    name: 'above-max',
    harm: 'slices that are leaving are not counted, so that the group goes above its max',
    edits: [
      {
        file: 'src/planner/prepare.ts',
        find: 'const graced = withGrace(input);',
        replace:
          "const graced = withGrace({ ...input, slices: input.slices.filter(({ status }) => status !== 'terminating') });",
      },
    ],
  },
  {
    name: 'rate-off-by-one',
    harm: 'the provider is asked more often than it was agreed',
    edits: [
      {
        file: 'src/planner/rates.ts',
        find: 'if (sent >= (limits.createsPerMinute ?? Infinity)) {',
        replace: 'if (sent > (limits.createsPerMinute ?? Infinity)) {',
      },
    ],
  },
  {
    name: 'hidden-state',
    harm: 'a recorded tick cannot be reproduced',
    edits: [
      {
        file: 'src/planner/launches.ts',
        find: 'let minted = 0;',
        replace: 'let minted = Math.floor(Math.random() * 1e6);',
      },
    ],
  },
  {
    name: 'forget-the-count',
    harm: 'after a restart slice ids are minted again, and one launch stands for two intents',
    edits: [
      {
        file: 'src/controller/controller.ts',
        find: 'const seq = memory.marks.seq + 1;',
        replace: 'const seq = (this.#last?.input.seq ?? 0) + 1;',
      },
    ],
  },
  {
    name: 'drop-the-lost',
    harm: 'a host that is gone is never noticed, and its slice is kept for ever',
    edits: [
      {
        file: 'src/lifecycle/advance.ts',
        find: 'if (isMissing || !isPresent(host)) {',
        replace: 'if (isMissing && !isPresent(host)) {',
      },
    ],
  },
];
