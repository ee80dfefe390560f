// The calls of a history on one queue, and what they must answer.

import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { Bindings } from '../../src/testing/vector-pattern.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { readContract, readVectors } from '../conformance/files.ts'

const contract = readContract()
const vectors = readVectors('queue')

export class QueueCalls {
  readonly prefix: string = `conformance:{queue:${randomUUID()}}`
  readonly #driver: Driver
  readonly #bindings = new Bindings()
  #call = 0
  /** Of all histories. */
  static quickClaims = 0

  constructor(driver: Driver) {
    this.#driver = driver
  }

  setClock(us: number): Promise<void> {
    return setTestClock(this.#driver, this.prefix, us)
  }

  /** A call that is remembered; `again`: it is sent twice, as after a lost answer. */
  async once(name: string, args: Arguments, expected: readonly unknown[], again: boolean): Promise<void> {
    this.#call += 1
    const all = { ...args, caller: 'p:1', call: String(this.#call) }
    await this.same(name, all, expected)
    if (again) await this.same(name, all, expected)
  }

  /** When the fast path declines, and only then, it must have done nothing. */
  async claimQuickly(args: Arguments, expected: readonly unknown[], again: boolean): Promise<void> {
    this.#call += 1
    const all = { ...args, caller: 'p:1', call: String(this.#call) }
    const answer = await this.run('ack-and-claim-plain', all)
    const [word, nowMs, endsMs, waits, recheckMs, , chores, refused, jobs, options] = expected
    if (answer[0] === 'claimed') {
      QueueCalls.quickClaims += 1
      expect([refused, options]).toEqual([[], []])
      const quickly = [word, nowMs, endsMs, waits, recheckMs, chores, ...inParts(jobs as Value[][])]
      expect(this.#bindings.mismatch(quickly, answer), JSON.stringify(all)).toBe(null)
    }
    if (answer[0] === 'declined' || again) await this.same('ack-and-claim', all, expected)
  }

  async same(name: string, args: Arguments, expected: readonly unknown[]): Promise<void> {
    const answer = await this.run(name, args)
    const call = `${name} ${JSON.stringify(args)} answered ${JSON.stringify(answer)}`
    expect(this.#bindings.mismatch(expected, answer), call).toBe(null)
  }

  run(name: string, args: Arguments): Promise<Value[]> {
    const operation = `queue/${name}`
    return runOperation(
      this.#driver,
      contract,
      operation,
      `${this.prefix}:`,
      argumentsOf(vectors, operation, args),
    )
  }
}

/** The answer of the fast path: the first token, all numbers, one name or each, and the payloads. */
function inParts(jobs: readonly Value[][]): unknown[] {
  const names = jobs.map(([, , , name]) => name)
  return [
    jobs[0]?.[1] ?? 0,
    jobs.map(([number]) => Number(number)).join(' '),
    new Set(names).size === 1 ? names.slice(0, 1) : names,
    jobs.map(([, , , , payload]) => payload),
  ]
}
