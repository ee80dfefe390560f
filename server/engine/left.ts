// The server that a killed service has left on the data. It is adopted, because two servers must never write to the
// same files.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { EngineError } from './engine.ts'
import type { Home } from './home.ts'
import type { DirectoryLock } from './os-lock.ts'

export interface LeftServer {
  readonly pid: number
  readonly port: number
}

type Silence = 'busy' | 'silent' | 'absent'

const WORDS: Record<Silence, string> = {
  busy: 'is busy with a script',
  silent: 'does not answer',
  absent: 'does not listen on its noted port',
}

const ANSWER_MS = 1000
const REPORTED_AFTER_MS = 1000
const PAUSE_MS = 200

/**
 * Resolves to that server once it answers; to null if there is none and the lock on the data is held by this service.
 * Throws `EngineError` if it has the data and does not answer within `patienceMs`.
 */
export async function findLeft(
  home: Home,
  patienceMs: number,
  say: (line: string) => void,
): Promise<LeftServer | null> {
  const began = performance.now()
  for (let isReported = false; ; await sleep(PAUSE_MS)) {
    // Checked even if the lock is free: a wrapper on PATH that starts the server may not pass the lock on.
    const seen = await look(home)
    if (typeof seen === 'object') return seen
    if (await home.lock.take()) return null
    const waited = performance.now() - began
    if (waited > patienceMs) throw new EngineError(stillThere(home, seen))
    if (!isReported && waited > REPORTED_AFTER_MS) {
      isReported = true
      say(`waiting for the redis-server of a service that was killed: it ${WORDS[seen]}`)
    }
  }
}

function stillThere(home: Home, seen: Silence): string {
  const { pid, port } = home.noted() ?? {}
  const which = pid === undefined ? '' : ` (process ${pid}, port ${port})`
  return `the redis-server of a service that was killed${which} still has the data in ${home.data}, and ${WORDS[seen]}: end it, and start again; or set PERILUNE_DATA to another directory`
}

/** Finds out which server is on the noted port. That port and the noted pid may belong to another process by now. */
async function look({ noted, data }: Home): Promise<LeftServer | Silence> {
  const port = noted()?.port
  if (port === undefined) return 'absent'
  const client = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    retryStrategy: () => null,
  })
  let reason = ''
  client.on('error', (error) => (reason ||= error.message))
  try {
    await client.connect()
    const [directory, server] = await Promise.all([client.config('GET', 'dir'), client.info('server')])
    const pid = /process_id:(\d+)\r/.exec(server)?.[1]
    const isOurs = JSON.stringify(directory).includes(JSON.stringify(data))
    return isOurs && pid !== undefined ? { pid: Number(pid), port } : 'absent'
  } catch (error) {
    return silenceOf(reason || String(error))
  } finally {
    client.disconnect()
  }
}

function silenceOf(reason: string): Silence {
  if (reason.includes('BUSY')) return 'busy'
  return /timed? ?out/i.test(reason) ? 'silent' : 'absent'
}

/**
 * Resolves when it has ended. It is not a child of this process, so its end is seen by its connections, its pid and its
 * lock.
 */
export async function endOfLeft({ pid, port }: LeftServer, lock: DirectoryLock): Promise<void> {
  const holdsLock = !(await lock.take())
  for (;;) {
    await endOfConnection(port)
    if (!isAlive(pid) || (holdsLock && (await lock.take()))) return
    await sleep(PAUSE_MS)
  }
}

function endOfConnection(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').unref()
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.resume()
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
