// A process of a test: a program beside it, which speaks by messages.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { forkProgram } from '../programs/fork.ts'

/** `program` lies in this folder. The process is gone when the test is. */
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
