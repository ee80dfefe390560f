// The partition count of data that is written into partitions directly: jobs, messages. Each partition stores the count
// from its first use on.
//
//   Before that, the partition is proposed, then the count is agreed, and then the partition is used with the proof of
//   the proposal. So every partition in use was proposed before the count was agreed. `clear` first reads when the
//   count was last agreed, clears the partitions, and then deletes the count unless it was agreed again in between. So
//   no used partition is left over.
//
// A partition in use needs no extra call: its scripts reject another count, and return `unagreed` after a clear. So a
// process that has not noticed a clear is rejected too, and one whose node with the count is silent continues.

import { DriverError } from '../errors/errors.ts'
import type { Operation } from '../calls/operation.ts'
import { type NumberOperations, PartitionNumber } from './partition-number.ts'
import type { Trace } from '../calls/runner.ts'
import type { Unit } from '../connection/unit.ts'

/** The operations of one structure. */
export interface AgreementOperations extends NumberOperations {
  readonly propose: Operation<
    { readonly partitions: number },
    { readonly status: 'proposed'; readonly proof: string } | { readonly status: 'agreed' }
  >
}

interface Unagreed {
  readonly status: 'unagreed'
}

export class Agreement extends PartitionNumber {
  readonly #propose: AgreementOperations['propose']

  /** `home`: the unit of the name itself. */
  constructor(home: Unit, partitions: number, operations: AgreementOperations) {
    super(home, partitions, operations)
    this.#propose = operations.propose
  }

  /**
   * The proof for the first use of the partition, for a call that returned `unagreed`. Throws InvalidArgumentError when
   * another partition count is stored, and DriverError.
   */
  async prove(partition: Unit, by: number, atClose?: Trace['atClose']): Promise<string> {
    if (performance.now() >= by)
      throw new DriverError('busy', `${this.#propose.script.name}: it is cleared again and again`)
    const trace = atClose === undefined ? { by } : { by, atClose }
    const proposed = await partition.run(this.#propose, { partitions: this.partitions }, trace)
    if (proposed.status === 'agreed') return ''
    await this.agree(by, atClose)
    return proposed.proof
  }

  /**
   * The answer of a call that may be the first to use a partition. `call` gets the proof, which is empty at first.
   * `atClose`: the behavior of the calls before it when the instance closes.
   */
  async use<Answer extends { readonly status: string }>(
    partition: Unit,
    call: (proof: string) => Promise<Answer>,
    atClose?: Trace['atClose'],
  ): Promise<Exclude<Answer, Unagreed>> {
    const by = performance.now() + partition.runtime.runner.deadlineMs
    let answer = await call('')
    while (answer.status === 'unagreed') answer = await call(await this.prove(partition, by, atClose))
    return answer as Exclude<Answer, Unagreed>
  }
}

/** For partitioned and unpartitioned data: the answer of a call that may be the first to use a partition. */
export function inUse<Answer extends { readonly status: string }>(
  { agreement, unit }: { readonly agreement: Agreement | null; readonly unit: Unit },
  call: (proof: string) => Promise<Answer>,
  atClose?: Trace['atClose'],
): Promise<Exclude<Answer, Unagreed>> {
  if (agreement === null) return call('') as Promise<Exclude<Answer, Unagreed>>
  return agreement.use(unit, call, atClose)
}
