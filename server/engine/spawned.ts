// A private redis-server as our child. It outlives a service that was killed: the next one adopts it,
// because two servers must never write to the same files.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { mendAppendOnly, saysCut, UNLESS_CUT } from './append-only.ts'
import { connectTo } from './connection.ts'
import { type Engine, EngineError, type EngineOptions } from './engine.ts'
import { findExecutable } from './executable.ts'
import { freePort } from './free-port.ts'
import { occupy, serverArguments } from './own-server.ts'
import { readSettings } from './settings.ts'

interface Running {
  pid: number
  port: number
}

/** Starts `executable` on our data directory, or adopts the server that a killed service left there. */
export async function useSpawned(executable: string, options: EngineOptions): Promise<Engine> {
  const files = filesIn(options.directory)
  const left = await findLeft(files)
  const running = left ?? (await startMended(executable, files, options))
  const url = urlOf(running.port)
  const client = await occupy(url)
  if (left !== undefined) options.say(`taking over the ${basename(executable)} of a service that was killed`)
  return {
    url,
    kind: 'spawned',
    description: `private ${basename(executable)} on port ${running.port}, data in ${files.data}`,
    ...(await readSettings(client)),
    stop: () => stop(running, client, files),
  }
}

interface Files {
  data: string
  state: string
  log: string
}

function filesIn(directory: string): Files {
  const root = resolve(directory)
  mkdirSync(join(root, 'redis'), { recursive: true, mode: 0o700 })
  // As the server itself will name it.
  const data = realpathSync(join(root, 'redis'))
  return { data, state: join(root, 'redis.json'), log: join(root, 'redis.log') }
}

async function findLeft(files: Files): Promise<Running | undefined> {
  const noted = readState(files)
  return noted !== undefined && (await isOurs(noted, files)) ? noted : undefined
}

function readState({ state }: Files): Running | undefined {
  try {
    const { pid, port }: Partial<Running> = JSON.parse(readFileSync(state, 'utf8'))
    return pid === undefined || port === undefined ? undefined : { pid, port }
  } catch {
    return undefined // never written, or half written when the machine stopped
  }
}

/** The port and the pid may be somebody else's by now, so the server itself is asked. */
async function isOurs({ pid, port }: Running, { data }: Files): Promise<boolean> {
  const client = await connectTo(urlOf(port)).catch(() => undefined)
  if (client === undefined) return false
  try {
    const [directory, server] = await Promise.all([client.config('GET', 'dir'), client.info('server')])
    const inOurDirectory = JSON.stringify(directory).includes(JSON.stringify(data))
    return inOurDirectory && server.includes(`process_id:${pid}\r\n`)
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

/** A server that was killed, or lost its power, may have left half a script in its file. */
async function startMended(executable: string, files: Files, options: EngineOptions): Promise<Running> {
  const logged = readLog(files).length
  try {
    return await start(executable, files, [...serverArguments(options.env), ...UNLESS_CUT])
  } catch (error) {
    if (!saysCut(readLog(files).slice(logged))) throw error
  }
  const name = basename(executable).replace('-server', '-check-aof')
  const mender = findExecutable([name], options.env['PATH'])
  // Where a server started on a cut file before, the tool removes all that came behind that, too.
  const copy = `${files.data}-${Date.now()}`
  if (mender !== undefined) cpSync(files.data, copy, { recursive: true })
  const isMended = mender !== undefined && (await mendAppendOnly(files.data, mender))
  options.say(
    isMended
      ? `removed from ${files.data} what a crash had cut in the middle of its writing; as it was it is in ${copy}`
      : `starting on what a crash has cut in the middle of its writing: no ${name} could remove it from ${files.data}`,
  )
  return start(executable, files, serverArguments(options.env))
}

async function start(executable: string, files: Files, settings: readonly string[]): Promise<Running> {
  const port = await freePort()
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--protected-mode', 'yes']
  const paths = ['--dir', files.data, '--logfile', files.log]
  // Detached: Ctrl-C in the terminal is for the service, which stops the server when it has drained.
  const child = spawn(executable, [...place, ...paths, ...settings], {
    stdio: 'ignore',
    detached: true,
  })
  child.unref()
  await once(child, 'spawn')
  const running = { pid: child.pid ?? 0, port }
  writeFileSync(files.state, JSON.stringify(running))
  await untilReachable(child, port, files)
  return running
}

async function untilReachable(child: ChildProcess, port: number, files: Files): Promise<void> {
  for (;;) {
    try {
      const client = await connectTo(urlOf(port))
      client.disconnect()
      return
    } catch (error) {
      const ended = child.exitCode !== null || child.signalCode !== null
      if (ended) throw new EngineError(`redis-server ended at once: ${lastLogLine(files)}`, { cause: error })
      await sleep(10)
    }
  }
}

function lastLogLine(files: Files): string {
  const text = readLog(files).trimEnd()
  return `${text === '' ? 'it wrote no log' : text.slice(text.lastIndexOf('\n') + 1)} (see ${files.log})`
}

function readLog({ log }: Files): string {
  return existsSync(log) ? readFileSync(log, 'utf8') : ''
}

async function stop({ pid }: Running, client: Redis, files: Files): Promise<void> {
  // The connection ends when the process does, also when it is not our child.
  const ended = client.status === 'end' ? Promise.resolve([]) : once(client, 'end')
  signal(pid, 'SIGTERM')
  const impatience = setTimeout(() => signal(pid, 'SIGKILL'), 10_000)
  await ended
  clearTimeout(impatience)
  rmSync(files.state, { force: true })
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}

function urlOf(port: number): string {
  return `redis://127.0.0.1:${port}`
}
