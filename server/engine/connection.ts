import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { EngineError } from './engine.ts'

/** Connects once; rejects with `EngineError` that says why it is not possible. */
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
    // Without this the client goes on in database 0.
    const { db = 0 } = client.options
    if (db !== 0) await client.select(db)
    return client
  } catch (error) {
    client.disconnect()
    throw new EngineError(`cannot use the Redis at ${where}: ${explain(reason || String(error))}`)
  }
}

/** Large data may take minutes to load; a server that is loading, or busy, is alive, so there is no limit. */
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
    if (word === 'MISCONF') return true // it answers reads, and more once it can write to its disk
    throw error
  }
}

function explain(reason: string): string {
  if (/WRONGPASS|invalid password/i.test(reason)) return 'wrong user name or password'
  if (/NOAUTH/.test(reason)) return 'it asks for a password (redis://:password@host:port)'
  if (/select.*NOPERM|NOPERM.*select/i.test(reason))
    return 'this user has no right to SELECT the database that the URL names'
  if (/DB index|invalid DB/i.test(reason)) return 'it has no database of the number that the URL names'
  if (/NOPERM/.test(reason)) return 'this user has no right to PING'
  if (/ECONNREFUSED/.test(reason)) return 'nothing listens there'
  if (/ETIMEDOUT/.test(reason))
    return 'no answer within 5 seconds (a server with TLS needs rediss://, one without redis://)'
  if (/ENOTFOUND/.test(reason)) return 'no machine has this name'
  if (/EPIPE|ECONNRESET|RESP type/.test(reason))
    return `what listens there does not answer as a Redis does (${reason})`
  return reason
}

/** `host:port`, without the credentials. Throws `EngineError` when it is no URL of a Redis. */
export function place(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol)) {
    throw new EngineError('REDIS_URL must look like redis://host:port or rediss://user:password@host:port')
  }
  return `${parsed.hostname}:${parsed.port || 6379}`
}
