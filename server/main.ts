#!/usr/bin/env node
// Configuration from the environment, signals, exit codes. Importing this file starts the service.

import { hostname } from 'node:os'
import closeWithGrace from 'close-with-grace'
import { greeting } from './greeting.ts'
import { Output } from './process/output.ts'
import about from './package.json' with { type: 'json' }
import type { Service } from './service.ts'
import { StartError } from './process/environment.ts'

// Longer than the service needs to drain and to stop its engine.
const LAST_RESORT_MS = 25_000

const say = (line: string): void => void process.stderr.write(`${line}\n`)

// A closed output (`npm start | head -1`) is no reason to stop.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})

const HELP = `perilune-server
perilune-server flush [NAME ...] [--once] [--wait SPAN]

Runs the service, or flushes counters to their databases: see perilune-server flush --help.

  --help       prints this text
  --version    prints the version of perilune-server

The environment has the settings: REDIS_URL (without it a private server is found or started), HOST (127.0.0.1),
PORT (8080), PERILUNE_DATA (.perilune), PERILUNE_NAMESPACE (perilune), PERILUNE_COUNTERS, LOG_LEVEL (info), and those in
docs/http of the repository of Perilune.
`

const [command, ...rest] = process.argv.slice(2)
if (command === undefined) await serve()
else if (command === 'flush') await flush(rest)
else if (command === '--help') process.stdout.write(HELP)
else if (command === '--version') process.stdout.write(`${about.version}\n`)
else fail(`there is no command ${command}: perilune-server --help says which there are`)

async function serve(): Promise<void> {
  // Loaded only here: it takes a second, and the other commands need little of it.
  const output = new Output(1, { dropped: logDropped })
  const starting = import('./service.ts').then(({ startService }) => startService(process.env, say, output))
  closeOnSignal(starting, output)
  try {
    welcome(await starting, output)
  } catch (error) {
    fail(`perilune cannot start: ${reasonOf(error)}`)
  }
}

/** A second stop signal is from npm, which repeats the one of the terminal. */
async function flush(args: readonly string[]): Promise<void> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  process.on('SIGINT', end).on('SIGTERM', end)
  try {
    const { flushCommand } = await import('./flush-command.ts')
    const output = new Output(1, { dropped: (lines) => `${lines} lines could not be written` })
    const print = (line: string): void => output.write(`${line}\n`)
    const code = await flushCommand(args, process.env, { say: print, signal: ending.signal })
    await output.close()
    process.exit(code)
  } catch (error) {
    fail(`perilune cannot flush: ${reasonOf(error)}`)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof StartError ? error.message : String(error)
}

function fail(line: string): never {
  say(line)
  process.exit(1)
}

/** In the format of pino. */
function logDropped(lines: number): string {
  const msg = 'lines of the log were dropped: they could not be written'
  return JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, hostname: hostname(), lines, msg })
}

/** In production the output is for machines. */
function welcome({ url, engine, log }: Service, output: Output): void {
  const { description, durability, warnings } = engine
  if (process.env['NODE_ENV'] === 'production') {
    log.info({ url, engine: description, durability, warnings }, 'listening')
  } else {
    output.write(`${greeting(url, engine)}\n`)
  }
}

/**
 * A terminal's Ctrl-C reaches npm and the service, and npm repeats it: the same signal may arrive twice, and must not
 * cut the draining. A signal during the start takes effect after it.
 */
function closeOnSignal(starting: Promise<Service>, output: Output): void {
  const grace = closeWithGrace({ delay: LAST_RESORT_MS, skip: ['SIGINT', 'SIGTERM'] }, async ({ err }) => {
    const service = await starting
    // Not as fatal: pino then waits until the line is written, forever if the output is not read.
    if (err) service.log.error({ err }, 'closing after an error')
    await service.close()
    await output.close()
  })
  let closing = false
  const close = (): void => {
    if (!closing) grace.close()
    closing = true
  }
  process.on('SIGINT', close).on('SIGTERM', close)
}
