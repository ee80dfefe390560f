// A process that counts and flushes: the library as it is shipped, but what it does outside itself waits at gates.

import { flushPartition } from '../../src/counters/flush.ts'
import { Incrementer } from '../../src/counters/increment.ts'
import { readValues, reconcileValues } from '../../src/counters/read.ts'
import type { Sink } from '../../src/counters/sink.ts'
import { openSource, type CountersPartition, type CountersSource } from '../../src/counters/source.ts'
import { ConnectionLostError, type Driver, type ReadCall, type Reply } from '../../src/driver.ts'
import { Runtime } from '../../src/runtime/connection/runtime.ts'
import type { Stage } from './stage.ts'

const FOR_EVER_MS = 3_600_000

export interface ProcessPlace {
  readonly owner: string
  readonly namespace: string
  readonly driver: Driver
  readonly sink: Sink
  readonly stage: Stage
  readonly settle: CountersSource['settle']
  readonly losesAnswer: () => boolean
  /** Gets the server's answers, including lost ones. */
  readonly onAnswer: (answer: Reply) => void
}

export class Process {
  readonly owner: string
  readonly #runtime: Runtime
  readonly #source: CountersSource
  readonly #incrementer: Incrementer
  #flushing = false

  constructor(place: ProcessPlace) {
    const { owner, namespace, sink, settle } = place
    this.owner = owner
    this.#runtime = new Runtime(gated(place), namespace, FOR_EVER_MS)
    const terms = {
      partitions: 1,
      retainMs: 60_000,
      idempotencyTtlMs: 60_000,
      mostDirty: 0,
      batchSize: 1,
      settleMs: 0,
    }
    this.#source = { ...openSource(this.#runtime, 'votes', sink, terms, () => undefined), settle }
    this.#incrementer = new Incrementer(this.#source)
  }

  get beginning(): string {
    return this.#partition.unit.beginning
  }

  get isFlushing(): boolean {
    return this.#flushing
  }

  async learn(): Promise<void> {
    await this.#partition.unit.learn()
  }

  async increment(id: string, delta: number): Promise<void> {
    await this.#incrementer.increment({ id, delta, key: '' })
  }

  async get(id: string): Promise<bigint> {
    const [value] = await readValues(this.#source, [id])
    return BigInt(value ?? 0)
  }

  async reconcile(id: string): Promise<void> {
    await reconcileValues(this.#source, [id], performance.now() + FOR_EVER_MS)
  }

  async flush(): Promise<void> {
    this.#flushing = true
    try {
      await flushPartition(this.#source, this.#partition, { patienceMs: FOR_EVER_MS }, () => undefined)
    } finally {
      this.#flushing = false
    }
  }

  get #partition(): CountersPartition {
    return this.#source.partitions[0] as CountersPartition
  }
}

function gated({ driver, stage, owner, losesAnswer, onAnswer }: ProcessPlace): Driver {
  const answered = async (reply: Promise<Reply>): Promise<Reply> => {
    const value = await reply
    onAnswer(value)
    if (losesAnswer()) throw new ConnectionLostError('the connection was cut', true)
    return value
  }
  const readOne = async (call: ReadCall): Promise<Reply> =>
    (await Promise.all(driver.read([call])))[0] ?? null
  return {
    ...driver,
    name: driver.name,
    run: (call) => stage.gate(owner, call.script.name, () => answered(driver.run(call))),
    runMany: (calls) => driver.runMany(calls),
    read: (calls) => calls.map((call) => stage.gate(owner, 'read', () => readOne(call))),
    write: (call) => driver.write(call),
    load: (script) => driver.load(script),
    subscribe: (channel, listener) => driver.subscribe(channel, listener),
    info: () => driver.info(),
    wait: (key, replicas, timeoutMs) => driver.wait(key, replicas, timeoutMs),
    healthy: () => true,
    close: async () => undefined,
  }
}
