#!/usr/bin/env node
// Configuration from the environment, signals, exit codes. Importing this file starts the service.

import closeWithGrace from 'close-with-grace'
import { greeting } from './greeting.ts'
import { type Service, startService } from './service.ts'
import { StartError } from './settings.ts'

// Longer than the service needs to drain and to stop its engine.
const LAST_RESORT_MS = 25_000

await main()

async function main(): Promise<void> {
  const starting = startService(process.env, (line) => process.stderr.write(`${line}\n`))
  closeOnSignal(starting)
  try {
    welcome(await starting)
  } catch (error) {
    const reason = error instanceof StartError ? error.message : String(error)
    process.stderr.write(`perilune cannot start: ${reason}\n`)
    process.exit(1)
  }
}

/** In production the output is for machines. */
function welcome({ url, engine, log }: Service): void {
  const { description, durability, warnings } = engine
  if (process.env['NODE_ENV'] === 'production') {
    log.info({ url, engine: description, durability, warnings }, 'listening')
  } else {
    process.stdout.write(`${greeting(url, engine)}\n`)
  }
}

/**
 * A terminal's Ctrl-C reaches npm and the service, and npm passes its own on: the same wish may come
 * twice, and must not end the draining. One that comes while the service starts counts once it has.
 */
function closeOnSignal(starting: Promise<Service>): void {
  const grace = closeWithGrace({ delay: LAST_RESORT_MS, skip: ['SIGINT', 'SIGTERM'] }, async ({ err }) => {
    const service = await starting
    if (err) service.log.fatal({ err }, 'closing after an error')
    await service.close()
  })
  let closing = false
  const close = (): void => {
    if (!closing) grace.close()
    closing = true
  }
  process.on('SIGINT', close).on('SIGTERM', close)
}
