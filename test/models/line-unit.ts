// One lock or semaphore on a real server, on the test clock: its scripts, the letters they send, and what is stored.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { CLAIM_MS } from '../../src/runtime/waiting/notify-channel.ts'
import { onTestClock, START_US } from '../../src/testing/test-clock.ts'
import { type Contract, operationOf, scriptOf } from '../../src/testing/vector-contract.ts'
import { snapshotOf } from '../audit/snapshot.ts'
import { type Kind, type LineView, PARTS, viewOf } from './line-view.ts'

export const LEASE_MS = 5000

export interface Letter {
  readonly id: string
  readonly text: string
}

export interface Outcome {
  /** The raw answer; empty when the server refused the call. */
  readonly answer: readonly unknown[]
  readonly refusal: string
  readonly letters: readonly Letter[]
}

interface Known {
  readonly sha1: string
  readonly names: readonly string[]
  readonly parts: readonly string[]
}

/** The scripts of several contracts, of which a call takes one, and the connections of all units. */
export class LineScripts {
  readonly kind: Kind
  readonly client: Redis
  readonly listener: Redis
  readonly #contracts: ReadonlyMap<string, Known>[] = []

  constructor(kind: Kind, port: number) {
    this.kind = kind
    this.client = new Redis(port, '127.0.0.1')
    this.listener = this.client.duplicate()
  }

  async load(contract: Contract): Promise<void> {
    const known = new Map<string, Known>()
    for (const name of Object.keys(contract.operations)) {
      const [structure = '', word = ''] = name.split('/')
      if (structure !== this.kind || word.startsWith('fenced')) continue
      const operation = operationOf(contract, name)
      const { source, sha1 } = onTestClock(scriptOf(name, operation), contract.clock ?? '')
      await this.client.script('LOAD', source)
      const names = operation.arguments.map((each) => each.name)
      known.set(word, { sha1, names, parts: operation.keys.map(({ part }) => part) })
    }
    this.#contracts.push(known)
  }

  find(name: string, luck: number): Known {
    const found = this.#contracts[Math.floor(luck * this.#contracts.length)]?.get(name)
    if (found === undefined) throw new Error(`no contract has ${this.kind}/${name}`)
    return found
  }

  close(): void {
    this.client.disconnect()
    this.listener.disconnect()
  }
}

export class LineUnit {
  readonly prefix: string
  nowMs: number = START_US / 1000
  readonly #scripts: LineScripts
  readonly #luck: () => number
  readonly #heard: Letter[] = []
  readonly #hear: (channel: string, message: string) => void

  /** `luck` chooses the contract of each call. */
  constructor(scripts: LineScripts, luck: () => number) {
    this.#scripts = scripts
    this.#luck = luck
    this.prefix = `lines:{${scripts.kind}:${randomUUID()}}`
    this.#hear = (channel, message) => {
      if (!channel.startsWith(this.prefix)) return
      this.#heard.push(...message.split('\n').map((text) => ({ text, id: text.split(' ')[1] ?? '' })))
    }
    scripts.listener.on('message', this.#hear)
  }

  async listen(process: string): Promise<void> {
    await this.#scripts.listener.subscribe(`${this.#channel}:${process}`)
  }

  async unlisten(process: string): Promise<void> {
    await this.#scripts.listener.unsubscribe(`${this.#channel}:${process}`)
  }

  /** `full`: the server has no memory for this call. */
  async run(name: string, own: Record<string, unknown>, full: boolean): Promise<Outcome> {
    const { sha1, names, parts } = this.#scripts.find(name, this.#luck())
    const usual = { holder: 'h', lease_ms: LEASE_MS, claim_ms: CLAIM_MS, sharded: false, counted: true }
    const all: Record<string, unknown> = { ...usual, channel: this.#channel, ...own }
    const args = names.flatMap((each) => [all[each]].flat()).map((each) => String(plain(each)))
    const keys = parts.map((part) => `${this.prefix}:${part}`)
    const { client, listener } = this.#scripts
    await client.set(`${this.prefix}:clock`, `${this.nowMs * 1000}`)
    if (full) await client.config('SET', 'maxmemory', '1')
    const outcome = await client.evalsha(sha1, keys.length, ...keys, ...args).then(
      (answer) => ({ answer: [answer].flat(), refusal: '' }),
      (error: Error) => ({ answer: [], refusal: error.message }),
    )
    if (full) await client.config('SET', 'maxmemory', '0')
    // Its messages have arrived before this answer.
    await listener.ping()
    return { ...outcome, letters: this.#heard.splice(0) }
  }

  async view(): Promise<LineView> {
    const keys = PARTS[this.#scripts.kind].map((part) => `${this.prefix}:${part}`)
    return viewOf(this.#scripts.kind, await snapshotOf(this.#scripts.client, this.prefix, keys, this.nowMs))
  }

  async end(): Promise<void> {
    this.#scripts.listener.off('message', this.#hear)
    const parts = [...PARTS[this.#scripts.kind], 'clock']
    await this.#scripts.client.del(...parts.map((part) => `${this.prefix}:${part}`))
  }

  get #channel(): string {
    return `${this.prefix}:wake`
  }
}

function plain(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
