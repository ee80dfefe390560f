// A process of a test: a program next to it, which communicates by messages.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { forkProgram } from '../programs/fork.ts'

/** `program` is in this folder. The process ends with the test. */
export function startWorker(program: string, ...args: (string | number)[]): ChildProcess {
  const child = forkProgram(new URL(program, import.meta.url), args.map(String))
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** The next thing that it says. */
export async function heard(child: ChildProcess): Promise<unknown> {
  const [message]: unknown[] = await once(child, 'message')
  return message
}
