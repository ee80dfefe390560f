// A redis-server as a child process on the data directory, whose lock it holds: it outlives a service that is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keepWhatIsCut, mendAppendOnly, saysCut, UNLESS_CUT } from './append-only.ts'
import { connectTo } from './connection.ts'
import { EngineError, type EngineOptions } from './engine.ts'
import { findExecutable } from './executable.ts'
import { type Home, unwritable } from './home.ts'
import { serverArguments } from './own-server.ts'

/** A process that serves, or is starting. */
export interface Process {
  readonly pid: number
  /** Resolves to how it ended. */
  readonly ended: Promise<string>
}

export interface Start {
  readonly executable: string
  readonly home: Home
  readonly options: EngineOptions
  readonly port: number
  /** Called with each process at once, before it serves. */
  began(process: Process): void
  /** Aborts when no server is wanted any more. */
  readonly signal: AbortSignal
}

/**
 * Resolves when it serves; throws `EngineError` if it cannot. The lock must be held. A server that was killed, or lost
 * its power, may have left half a script in its file: that part is removed.
 */
export async function startChild(start: Start): Promise<void> {
  const { home, options } = start
  const settings = serverArguments(options.env)
  const logged = readLog(home).length
  try {
    return await serve(start, [...settings, ...UNLESS_CUT])
  } catch (error) {
    if (!saysCut(readLog(home).slice(logged))) throw error
  }
  await mend(start)
  return serve(start, settings)
}

/**
 * If a server started on a truncated file before, the tool also removes everything after the truncation: so that part
 * is saved.
 */
async function mend({ executable, home: { data }, options: { env, say } }: Start): Promise<void> {
  const name = basename(executable).replace('-server', '-check-aof')
  const mender = findExecutable([name], env['PATH'])
  const kept = `${data}-cut-${Date.now()}`
  if (mender !== undefined && (await keep(data, mender, kept)) && (await mendAppendOnly(data, mender)))
    return say(`removed the part of ${data} that a crash had truncated; it is saved in ${kept}`)
  say(`starting on a file truncated by a crash: no ${name} could repair it in ${data}`)
}

/** Throws `EngineError` if the disk has no room for it. */
async function keep(data: string, mender: string, kept: string): Promise<boolean> {
  try {
    return await keepWhatIsCut(data, mender, kept)
  } catch (error) {
    throw unwritable(kept, error)
  }
}

async function serve(start: Start, settings: readonly string[]): Promise<void> {
  const { executable, home, port } = start
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--protected-mode', 'yes']
  const paths = ['--dir', home.data, '--logfile', home.log]
  // Noted before it runs, so that it can always be found. Not noted again, because the disk may be full by now.
  if (home.noted()?.port !== port) home.note({ port })
  start.signal.throwIfAborted()
  const child = spawn(executable, [...place, ...paths, ...settings], {
    stdio: ['ignore', 'ignore', 'ignore', home.lock.descriptor],
    // Ctrl-C in the terminal is for the service, which stops the server after it has drained.
    detached: true,
  })
  child.unref()
  if (child.pid === undefined) throw new EngineError(await whyNotSpawned(child))
  const process = { pid: child.pid, ended: once(child, 'exit').then(wordsFor) }
  start.began(process)
  home.noteIfPossible({ port, pid: process.pid })
  await untilServing(process, port, home)
}

async function whyNotSpawned(child: ChildProcess): Promise<string> {
  const reason: unknown = await once(child, 'spawn').catch((error: unknown) => error)
  return `cannot run redis-server: ${reason instanceof Error ? reason.message : String(reason)}`
}

async function untilServing({ ended }: Process, port: number, home: Home): Promise<void> {
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  for (;;) {
    try {
      const client = await connectTo(`redis://127.0.0.1:${port}`)
      client.disconnect()
      return
    } catch (error) {
      if (hasEnded)
        throw new EngineError(`redis-server ended at once: ${lastLogLine(home)}`, { cause: error })
      await sleep(10)
    }
  }
}

function wordsFor([code, signal]: unknown[]): string {
  return code === null ? `killed by ${String(signal)}` : `exit code ${Number(code)}`
}

function lastLogLine(home: Home): string {
  const text = readLog(home).trimEnd()
  return `${text === '' ? 'it wrote no log' : text.slice(text.lastIndexOf('\n') + 1)} (see ${home.log})`
}

function readLog({ log }: Home): string {
  return existsSync(log) ? readFileSync(log, 'utf8') : ''
}
