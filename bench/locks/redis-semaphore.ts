// The lock and the semaphore of the package redis-semaphore.

import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Client, type Contender, type Source, TERMS, type Terms } from './contender.ts'

interface Held {
  acquire(): Promise<void>
  release(): Promise<void>
}

interface Options {
  readonly lockTimeout: number
  readonly acquireTimeout: number
  readonly retryInterval: number
}

interface Package {
  Mutex: new (client: Redis, key: string, options: Options) => Held
  Semaphore: new (client: Redis, key: string, limit: number, options: Options) => Held
}

const PEER = 'redis-semaphore'
const SETTINGS = `retryInterval ${TERMS.retryMs} (default 10), lockTimeout ${TERMS.leaseMs} (as by default)`

export const mutex: Contender = {
  name: 'redis-semaphore, Mutex',
  peer: PEER,
  settings: SETTINGS,
  connect: (connection, terms) =>
    connect(terms, ({ Mutex }, options) => new Mutex(connection, terms.name, options)),
}

export const semaphore: Contender = {
  name: PEER,
  peer: PEER,
  settings: SETTINGS,
  connect: (connection, terms) =>
    connect(terms, ({ Semaphore }, options) => new Semaphore(connection, terms.name, terms.limit, options)),
}

async function connect(terms: Terms, open: (found: Package, options: Options) => Held): Promise<Source> {
  const found = loadPeer<Package>(PEER)
  const options = {
    lockTimeout: terms.leaseMs,
    acquireTimeout: terms.giveUpMs,
    retryInterval: terms.retryMs,
  }
  return { client: () => toClient(() => open(found, options)), close: async () => {} }
}

/** One object an acquisition, as the package has it: a used one keeps its identifier. */
function toClient(open: () => Held): Client {
  const acquire = async (): Promise<() => Promise<void>> => {
    const held = open()
    await held.acquire()
    return () => held.release()
  }
  return { tries: Number.NaN, acquire }
}
