import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

/** Opens a connection for this only. */
export async function withClient<Result>(
  port: number,
  use: (client: Redis) => Promise<Result>,
): Promise<Result> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
  })
  client.on('error', () => {}) // the rejected promise says the same
  try {
    return await use(client)
  } finally {
    client.disconnect()
  }
}

/** Sends one command on a connection of its own. */
export function ask(port: number, command: string, ...args: (string | number)[]): Promise<unknown> {
  return withClient(port, (client) => client.call(command, ...args))
}

/** The `name:value` lines of INFO or CLUSTER INFO. */
export async function askFields(
  port: number,
  command: string,
  ...args: string[]
): Promise<Map<string, string>> {
  const text = String(await ask(port, command, ...args))
  return new Map(
    text.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
}

/** Asks until the answer is yes; a question that throws counts as no. Throws after `withinMs`. */
export async function until(
  what: string,
  question: () => Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  let failure: unknown
  while (performance.now() < deadline) {
    try {
      if (await question()) return
    } catch (error) {
      failure = error
    }
    await sleep(10)
  }
  throw new Error(`waited ${withinMs} ms in vain until ${what}`, { cause: failure })
}
