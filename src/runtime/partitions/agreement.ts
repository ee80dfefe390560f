// The number of partitions of what is put into them without looking at anything else first: jobs, messages. Each partition knows
// the number from its first use on.
//
//   Before that, the partition is proposed, then the number is agreed upon, and only then the partition is used, with what
//   proves the proposal. So a partition in use was there before somebody agreed upon the number. Whoever clears all asks when
//   that was last, clears the partitions and then forgets the number, unless it was agreed upon in between: none that was in
//   use is left behind.
//
// A partition in use is used without asking: its scripts refuse whoever says another number, and answer `unagreed` where it was
// cleared. So a process that has not heard of a clear is refused too, and one whose node with the number is silent goes on.

import { DriverError } from '../errors/errors.ts'
import type { Operation } from '../calls/operation.ts'
import { type NumberOperations, PartitionNumber } from './partition-number.ts'
import type { Trace } from '../calls/runner.ts'
import type { Unit } from '../connection/unit.ts'

/** What the structure calls these. */
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

  /** `home`: the unit of the name alone. */
  constructor(home: Unit, partitions: number, operations: AgreementOperations) {
    super(home, partitions, operations)
    this.#propose = operations.propose
  }

  /**
   * What proves that the partition may be used, for a call that was answered `unagreed`. Throws InvalidArgumentError where
   * there is another number of partitions, and DriverError.
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
   * The answer of a call that may be the first to use a partition; it is given the proof, empty at first. `atClose`: what becomes of
   * the calls before it when the instance closes.
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

/** Of what is spread and what is not: the answer of a call that may be the first to use a partition. */
export function inUse<Answer extends { readonly status: string }>(
  { agreement, unit }: { readonly agreement: Agreement | null; readonly unit: Unit },
  call: (proof: string) => Promise<Answer>,
  atClose?: Trace['atClose'],
): Promise<Exclude<Answer, Unagreed>> {
  if (agreement === null) return call('') as Promise<Exclude<Answer, Unagreed>>
  return agreement.use(unit, call, atClose)
}
