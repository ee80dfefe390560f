// A lock, one holder and two waiters of two processes, as one value that can be restored: the keys in Redis, the belief
// of each party, the letters on their way. The scripts are the real ones on a real server, on the test clock; only the
// parties are simulated, by the rules of src/runtime/waiting/waiter.ts.

import { createHash, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { CLAIM_MS } from '../../src/runtime/waiting/notify-channel.ts'
import { onTestClock, START_US } from '../../src/testing/test-clock.ts'
import { type Contract, operationOf, scriptOf } from '../../src/testing/vector-contract.ts'

export const LEASE_MS = 10_000

export type Name = 'holder' | 'a' | 'b'

/** The belief of one party: that it holds, with this token and until then by the server's clock. */
interface Belief {
  readonly token: string
  readonly untilMs: number
  /** How long it was granted for, as the server said. */
  readonly leaseMs: number
}

export interface Party {
  readonly id: string
  /** Wants the lock: it has asked, and has neither got it nor given up. */
  readonly waits: boolean
  readonly asks: number
  readonly belief: Belief | null
  /** Whether its line is on the node of the commands. */
  readonly listens: boolean
  readonly letters: readonly string[]
  /** A copy of its last question that may still arrive. */
  readonly late: boolean
}

export interface World {
  readonly nowMs: number
  readonly state: string | null
  readonly queue: readonly string[]
  readonly parties: Readonly<Record<Name, Party>>
}

export const NAMES: readonly Name[] = ['holder', 'a', 'b']

/** Runs scripts on a world, and returns the resulting world. */
export class Stage {
  readonly #client: Redis
  readonly #prefix = `hand-over:{lock:${randomUUID()}}`
  readonly #channel = `${this.#prefix}:wake`
  readonly #scripts = new Map<string, { sha1: string; source: string; names: readonly string[] }>()
  readonly #lines: Record<Name, { connection: Redis; listens: boolean; heard: string[] }>

  constructor(port: number, contract: Contract) {
    this.#client = new Redis(port, '127.0.0.1')
    for (const name of ['acquire', 'release', 'abandon']) {
      const operation = operationOf(contract, `lock/${name}`)
      const { source } = onTestClock(scriptOf(`lock/${name}`, operation), contract.clock ?? '')
      const sha1 = createHash('sha1').update(source).digest('hex')
      this.#scripts.set(name, { sha1, source, names: operation.arguments.map((each) => each.name) })
    }
    this.#lines = { holder: this.#open(), a: this.#open(), b: this.#open() }
  }

  /** The holder holds, and there is no waiter yet. */
  async begin(): Promise<World> {
    for (const { source } of this.#scripts.values()) await this.#client.script('LOAD', source)
    const idle = { waits: false, asks: 0, belief: null, listens: true, letters: [], late: false }
    const nowMs = START_US / 1000
    const parties = {
      holder: { ...idle, id: `holder.1@${nowMs}` },
      a: { ...idle, id: `a.1@${nowMs}` },
      b: { ...idle, id: `b.1@${nowMs}` },
    }
    return this.ask({ nowMs, state: null, queue: [], parties }, 'holder')
  }

  /** One question of a party; `late`: a copy that arrives when the party does not know of it any more. */
  async ask(world: World, name: Name, late = false): Promise<World> {
    const party = world.parties[name]
    // The id of a first question contains its time.
    const id = party.asks === 0 ? party.id.replace(/@.*/, `@${world.nowMs}`) : party.id
    const first = { ...party, id }
    const args = { id, waits: true, confirms: party.asks > 0 || late, barging: false }
    const { answer, next } = await this.#run(change(world, name, first), 'acquire', args)
    if (late) return change(next, name, { late: false })
    const asks = Math.min(party.asks + 1, 2)
    if (answer[0] !== 'granted') return change(next, name, { waits: true, asks, late: true })
    const untilMs = Number(answer[2])
    const belief = { token: String(answer[1]), untilMs, leaseMs: untilMs - Number(answer[3]) }
    return change(next, name, { waits: false, asks, belief, late: true })
  }

  async release(world: World, name: Name): Promise<World> {
    const { belief } = world.parties[name]
    const { next } = await this.#run(world, 'release', { token: belief?.token ?? '0' })
    return change(next, name, { belief: null })
  }

  async abandon(world: World, name: Name): Promise<World> {
    const { id } = world.parties[name]
    const { next } = await this.#run(world, 'abandon', { id, barging: false })
    return change(next, name, { waits: false })
  }

  close(): void {
    for (const { connection } of Object.values(this.#lines)) connection.disconnect()
    this.#client.disconnect()
  }

  #open(): { connection: Redis; listens: boolean; heard: string[] } {
    const heard: string[] = []
    const connection = this.#client.duplicate()
    connection.on('message', (_, message: string) => heard.push(...message.split('\n')))
    return { connection, listens: false, heard }
  }

  async #run(
    world: World,
    name: string,
    own: Record<string, unknown>,
  ): Promise<{ answer: unknown[]; next: World }> {
    await this.#put(world)
    const { sha1 = '', names = [] } = this.#scripts.get(name) ?? {}
    const channel = this.#channel
    const usual = { holder: '', lease_ms: LEASE_MS, claim_ms: CLAIM_MS, listens: true }
    const all: Record<string, unknown> = { ...usual, channel, sharded: false, counted: true, ...own }
    const args = names.map((each) => String(typeof all[each] === 'boolean' ? Number(all[each]) : all[each]))
    const keys = [`${this.#prefix}:state`, `${this.#prefix}:queue`]
    const answer = await this.#client.evalsha(sha1, 2, ...keys, ...args).catch((error: Error) => {
      // A copy that comes after its attempt has given the lock back.
      if (error.message.startsWith('INVALID id')) return ['refused']
      throw error
    })
    return { answer: [answer].flat(), next: await this.#look(world) }
  }

  /** The content of a world is restored in Redis, and each connection to its place. */
  async #put({ nowMs, state, queue, parties }: World): Promise<void> {
    const keys = this.#client.pipeline().set(`${this.#prefix}:clock`, `${nowMs * 1000}`)
    keys.del(`${this.#prefix}:state`, `${this.#prefix}:queue`)
    if (state !== null) keys.set(`${this.#prefix}:state`, state)
    for (let at = 0; at < queue.length; at += 2) {
      keys.zadd(`${this.#prefix}:queue`, queue[at + 1] ?? '', queue[at] ?? '')
    }
    await Promise.all([keys.exec(), ...NAMES.map((name) => this.#place(name, parties[name].listens))])
  }

  async #place(name: Name, listens: boolean): Promise<void> {
    const line = this.#lines[name]
    line.heard.length = 0
    if (line.listens === listens) return
    line.listens = listens
    const channel = `${this.#channel}:${name}`
    await (listens ? line.connection.subscribe(channel) : line.connection.unsubscribe(channel))
  }

  async #look(world: World): Promise<World> {
    // Earlier messages are read by then.
    const [state, queue] = await Promise.all([
      this.#client.get(`${this.#prefix}:state`),
      this.#client.zrange(`${this.#prefix}:queue`, '0', '-1', 'WITHSCORES'),
      ...Object.values(this.#lines).map(({ connection }) => connection.ping()),
    ])
    let next: World = { ...world, state, queue }
    for (const name of NAMES) {
      const { heard } = this.#lines[name]
      if (heard.length > 0) {
        const letters = [...next.parties[name].letters, ...heard.splice(0)]
        next = change(next, name, { letters })
      }
    }
    return next
  }
}

export function change(world: World, name: Name, party: Partial<Party>): World {
  return { ...world, parties: { ...world.parties, [name]: { ...world.parties[name], ...party } } }
}

/** The holder by the stored state, or the last one. */
export function holderOf({ state }: World): { isHeld: boolean; token: string; untilMs: number; id: string } {
  const [, mode, token = '0', untilMs = '0', , , id = ''] = state?.split(' ') ?? []
  return { isHeld: mode === 'x', token, untilMs: Number(untilMs), id }
}

/** The parties that believe now that they hold the lock. */
export function believers({ nowMs, parties }: World): Name[] {
  return NAMES.filter((name) => (parties[name].belief?.untilMs ?? 0) > nowMs)
}
