import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ConnectionLostError,
  type Driver,
  type Reply,
  type Script,
  type ScriptCall,
  ServerReplyError,
} from '../driver.ts'

export function scriptOf(source: string, options: { bytes?: boolean } = {}): Script {
  const sha1 = createHash('sha1').update(source).digest('hex')
  return { name: 'test/script', sha1, source, reads: false, bytes: options.bytes ?? false }
}

/** Sent as source, so that it runs whatever scripts the server has cached. */
export function callOf(script: Script, keys: string[], args: ScriptCall['args'] = []): ScriptCall {
  return { script, keys, args, send: 'source' }
}

export const ECHO: Script = scriptOf('return ARGV[1]')
export const WRITE: Script = scriptOf("redis.call('SET', KEYS[1], ARGV[1]) return 'written'")
export const FAIL: Script = scriptOf("return redis.error_reply('SORRY not today')")

const PATIENCE_MS = 20_000

/** Repeats a call until it succeeds, as the runtime does; any error outside of the port ends it at once. */
export async function untilAnswered(driver: Driver, call: ScriptCall): Promise<Reply> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await driver.run(call)
    } catch (error) {
      const ours = error instanceof ServerReplyError || error instanceof ConnectionLostError
      if (!ours || performance.now() > deadline) throw error
    }
    await sleep(20)
  }
}

export async function until(question: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await question())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting until ${what}`)
    await sleep(10)
  }
}

/** The error of a promise that must reject. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`resolved to ${String(outcome.value)}, expected a rejection`)
}

/** Collects unhandled rejections while `use` runs. */
export async function unhandledDuring(use: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = []
  const collect = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', collect)
  try {
    await use()
    await sleep(0)
  } finally {
    process.off('unhandledRejection', collect)
  }
  return unhandled
}
