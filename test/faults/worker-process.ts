// A process of a test: a program beside it, which speaks by messages.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** `program` lies in this folder. The process is gone when the test is. */
export function startWorker(program: string, ...args: (string | number)[]): ChildProcess {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(file, args.map(String), { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** The next thing that it says. */
export async function heard(child: ChildProcess): Promise<unknown> {
  const [message]: unknown[] = await once(child, 'message')
  return message
}
