// Plays conformance vectors (test/conformance/README.md) through a driver.

import { randomUUID } from 'node:crypto'
import { type Driver, ServerReplyError } from '../driver.ts'
import { unitPrefix } from '../runtime/values/keys.ts'
import { runOperation } from './run-operation.ts'
import { runCommand, START_US, setTestClock } from './test-clock.ts'
import { argumentsFor, type Contract, knowsCall, operationOf, partsOf } from './vector-contract.ts'
import { argumentsOf, type Step, type Vector, type VectorFile } from './vector-file.ts'
import { Bindings } from './vector-pattern.ts'
import { toBytes, toValue, type Value } from './vector-value.ts'

export interface VectorPlace {
  readonly driver: Driver
  /**
   * The contracts whose scripts run: the first for the first step, the second for the second and so on, in rotation. A
   * step that a contract of an older release cannot know is run by the next one.
   */
  readonly contracts: readonly [Contract, ...Contract[]]
  /** Makes every primary forget its scripts. */
  flushScripts(): Promise<void>
}

/** Plays one vector on keys of its own and removes them. Throws at the first step that differs. */
export async function playVector(place: VectorPlace, file: VectorFile, vector: Vector): Promise<void> {
  const play = new Play(place, file)
  try {
    for (const [at, step] of vector.steps.entries()) {
      const difference = await play.step(step, at)
      if (difference !== null) throw new Error(`step ${at + 1}, ${JSON.stringify(step)}: ${difference}`)
    }
  } finally {
    await play.cleanUp()
  }
}

type Outcome = { readonly answer: Value } | { readonly error: string }

class Play {
  readonly #place: VectorPlace
  readonly #file: VectorFile
  readonly #bindings = new Bindings()
  readonly #prefixes = new Map<string, string>()
  readonly #id: string = randomUUID()
  #us = START_US

  constructor(place: VectorPlace, file: VectorFile) {
    this.#place = place
    this.#file = file
    this.#bindings.setClock(this.#us)
  }

  /** The difference from the vector, or null. */
  async step(step: Step, at: number): Promise<string | null> {
    const prefix = await this.#prefixOf(step.unit ?? '')
    if (step.advance_ms !== undefined) await this.#advance(step.advance_ms)
    if (step.script_flush === true) await this.#place.flushScripts()
    if (step.keys_left !== undefined)
      return this.#bindings.mismatch(step.keys_left, await this.#keysLeft(prefix), 'keys_left')
    if (step.redis !== undefined) return this.#judge(step, await this.#command(step.redis, prefix))
    if (step.call !== undefined) return this.#judge(step, await this.#call(step, step.call, prefix, at))
    return null
  }

  async cleanUp(): Promise<void> {
    for (const prefix of this.#prefixes.values()) {
      const keys = [`${prefix}:clock`, ...this.#parts().map((part) => `${prefix}:${part}`)]
      await runCommand(this.#place.driver, keys, ['UNLINK', ...keys])
    }
  }

  #judge(step: Step, outcome: Outcome): string | null {
    if ('error' in outcome) {
      if (step.error !== undefined && outcome.error.startsWith(step.error)) return null
      return `the server answered ${outcome.error}`
    }
    if (step.error !== undefined) return `expected the error, got ${JSON.stringify(outcome.answer)}`
    if (step.answer === undefined) return null
    const difference = this.#bindings.mismatch(step.answer, outcome.answer)
    return difference === null ? null : `${difference}; the whole: ${JSON.stringify(outcome.answer)}`
  }

  #call(step: Step, name: string, prefix: string, at: number): Promise<Outcome> {
    const { driver } = this.#place
    const contract = this.#contractFor(step, name, at)
    const all = this.#bindings.fillAll(argumentsOf(this.#file, name, step.with))
    const given = argumentsFor(operationOf(contract, name), all)
    const beside = step.beside === undefined ? '' : `${step.beside}-`
    return settle(runOperation(driver, contract, name, `${prefix}:${beside}`, given))
  }

  #command(words: readonly unknown[], prefix: string): Promise<Outcome> {
    const keys: string[] = []
    const sent = words.map((word) => {
      if (!isKey(word)) return toBytes(this.#bindings.fill(word))
      keys.push(`${prefix}:${word.key}`)
      return `${prefix}:${word.key}`
    })
    return settle(runCommand(this.#place.driver, keys, sent).then(toValue))
  }

  async #advance(ms: number): Promise<void> {
    this.#us += ms * 1000
    this.#bindings.setClock(this.#us)
    for (const prefix of this.#prefixes.values()) await setTestClock(this.#place.driver, prefix, this.#us)
  }

  async #keysLeft(prefix: string): Promise<Value[]> {
    const parts = this.#parts()
    const exist = await Promise.all(
      this.#place.driver.read(parts.map((part) => ({ command: 'EXISTS', args: [`${prefix}:${part}`] }))),
    )
    return parts.filter((_, at) => exist[at] === 1)
  }

  async #prefixOf(unit: string): Promise<string> {
    const known = this.#prefixes.get(unit)
    if (known !== undefined) return known
    const prefix = unitPrefix('conformance', this.#file.structure, `${this.#id} ${unit}`)
    this.#prefixes.set(unit, prefix)
    await setTestClock(this.#place.driver, prefix, this.#us)
    return prefix
  }

  #parts(): string[] {
    return partsOf(this.#place.contracts[0], this.#file.structure)
  }

  /** The next contract in rotation that knows the step. */
  #contractFor(step: Step, name: string, at: number): Contract {
    const { contracts } = this.#place
    const turns = contracts.map((contract, n) => contracts[(at + n) % contracts.length] ?? contract)
    const able = turns.find((contract) => knowsCall(contract, name, step.with ?? {}, step.answer))
    return able ?? turns[0] ?? contracts[0]
  }
}

async function settle(answer: Promise<Value>): Promise<Outcome> {
  try {
    return { answer: await answer }
  } catch (error) {
    if (error instanceof ServerReplyError) return { error: error.message }
    throw error
  }
}

function isKey(word: unknown): word is { key: string } {
  return typeof word === 'object' && word !== null && 'key' in word
}
