import type { Codec } from '../runtime/values/codec.ts'
import type { QueueHooks } from './worker/hooks.ts'
import type { SchemasByName } from './source/schemas.ts'

export interface QueueOptions {
  /** How payloads and results become bytes; default JSON. */
  codec?: Codec<unknown>
  /**
   * Schemas of payloads by the names of jobs, of any library that speaks Standard Schema. They are checked before
   * anything is enqueued, and before a job is worked on: one that does not fit is dead, of the kind `invalid-payload`.
   */
  schemas?: SchemasByName
  /** For tracing. */
  hooks?: QueueHooks
}
