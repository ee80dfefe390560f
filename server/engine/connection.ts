import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { EngineError } from './engine.ts'

/** Connects once. Rejects with an `EngineError` that says why it failed. */
export async function connectTo(url: string): Promise<Redis> {
  const where = place(url)
  const client = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: 5000,
    retryStrategy: () => null,
  })
  let reason = ''
  client.on('error', (error) => (reason = error.message))
  try {
    await client.connect()
    await untilLoaded(client)
    // Without this the client continues in database 0.
    const { db = 0 } = client.options
    if (db !== 0) await client.select(db)
    return client
  } catch (error) {
    client.disconnect()
    throw new EngineError(`cannot use the Redis at ${where}: ${explain(reason || String(error))}`)
  }
}

/** Large data may take minutes to load. A server that is loading, or busy, is alive, so there is no time limit. */
async function untilLoaded(client: Redis): Promise<void> {
  while (!(await isLoaded(client))) await sleep(100)
}

async function isLoaded(client: Redis): Promise<boolean> {
  try {
    await client.ping()
    return true
  } catch (error) {
    const [word = ''] = error instanceof Error ? error.message.split(' ', 1) : []
    if (word === 'LOADING' || word === 'BUSY') return false
    if (word === 'MISCONF') return true // it answers reads, and writes once it can write to its disk
    throw error
  }
}

function explain(reason: string): string {
  if (/WRONGPASS|invalid password/i.test(reason)) return 'wrong user name or password'
  if (/NOAUTH/.test(reason)) return 'it asks for a password (redis://:password@host:port)'
  if (/select.*NOPERM|NOPERM.*select/i.test(reason))
    return 'this user has no right to SELECT the database that the URL names'
  if (/DB index|invalid DB/i.test(reason)) return 'it has no database with the number in the URL'
  if (/NOPERM/.test(reason)) return 'this user has no right to PING'
  if (/ECONNREFUSED/.test(reason)) return 'nothing listens on that port'
  if (/ETIMEDOUT/.test(reason))
    return 'no answer within 5 seconds (a server with TLS needs rediss://, one without redis://)'
  if (/ENOTFOUND/.test(reason)) return 'there is no machine of this name'
  if (/EPIPE|ECONNRESET|RESP type/.test(reason))
    return `the server there does not answer like Redis (${reason})`
  return reason
}

/** `host:port`, without the credentials. Throws `EngineError` if the URL is not one of Redis. */
export function place(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol)) {
    throw new EngineError('REDIS_URL must look like redis://host:port or rediss://user:password@host:port')
  }
  return `${parsed.hostname}:${parsed.port || 6379}`
}
