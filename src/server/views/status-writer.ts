import { create, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  GetAutoscalerStatusResponseSchema,
  WatchStatusResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import {
  type AutoscalerStatus,
  AutoscalerStatusSchema,
} from '../../api/gen/bellows/v1/status_pb.ts';
import type { SharedJson } from '../shared-json.ts';
import type { StatusView } from './status-view.ts';

/** Answers that are a status and nothing else. */
type Answer = typeof GetAutoscalerStatusResponseSchema | typeof WatchStatusResponseSchema;

/**
 * The status as an answer. Fifty who watch get the same bytes: Connect would make them fifty times,
 * and be busy with nothing else.
 */
export class StatusWriter {
  readonly #view: StatusView;
  /** Null where Connect is on its own: then every reader of JSON has it made. */
  readonly #shared: SharedJson | null;
  #binary: { readonly status: AutoscalerStatus; readonly data: Uint8Array } | null = null;
  #json: { readonly status: AutoscalerStatus; readonly name: string } | null = null;
  /** Kept a little longer: who was told of it is about to write it. */
  #lastName: string | null = null;

  constructor(view: StatusView, shared: SharedJson | null) {
    this.#view = view;
    this.#shared = shared;
  }

  /** For a request of this content type: every protocol names its codec there. */
  write<T extends Answer>(schema: T, contentType: string): MessageShape<T> {
    const status = this.#view.current();
    if (!/\bjson\b/i.test(contentType)) return this.#inBinary(schema, status);
    if (this.#shared === null) return toAnswer(schema, status);
    const fleet = this.#nameOf(status, this.#shared);
    return toAnswer(schema, create(AutoscalerStatusSchema, { fleet }));
  }

  /** What a message does not know is sent as it is: the status is written already. */
  #inBinary<T extends Answer>(schema: T, status: AutoscalerStatus): MessageShape<T> {
    if (this.#binary?.status !== status) {
      const bytes = toBinary(AutoscalerStatusSchema, status);
      this.#binary = { status, data: new BinaryWriter().bytes(bytes).finish() };
    }
    const { data } = this.#binary;
    const { number: no } = schema.field.status;
    const $unknown = [{ no, wireType: WireType.LengthDelimited, data }];
    return { ...toAnswer(schema, undefined), $unknown };
  }

  #nameOf(status: AutoscalerStatus, shared: SharedJson): string {
    if (this.#json?.status !== status) {
      if (this.#lastName !== null) shared.drop(this.#lastName);
      this.#lastName = this.#json?.name ?? null;
      const answer = create(WatchStatusResponseSchema, { status });
      const name = shared.keep(toJsonString(WatchStatusResponseSchema, answer));
      this.#json = { status, name };
    }
    return this.#json.name;
  }
}

// The cast: both have this one field, which the compiler does not see through the type parameter.
const toAnswer = <T extends Answer>(schema: T, status: AutoscalerStatus | undefined) =>
  create<Answer>(schema, status === undefined ? {} : { status }) as MessageShape<T>;
