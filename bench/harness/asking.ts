// Asking a child process, one question at a time.

import type { ChildProcess } from 'node:child_process'

/** Resolves to its next message. Rejects when it ends, or does not answer in time. */
export function ask<Answer>(child: ChildProcess, message: object | string, waitMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      child.off('message', onMessage).off('exit', onExit)
    }
    const fail = (why: string): void => {
      settle()
      reject(new Error(why))
    }
    const onMessage = (answer: Answer): void => {
      settle()
      resolve(answer)
    }
    const onExit = (code: number | null): void =>
      fail(`a process of the bench ended with code ${String(code)}`)
    const timer = setTimeout(() => fail(`a process of the bench did not answer for ${waitMs} ms`), waitMs)
    child.on('message', onMessage).on('exit', onExit)
    child.send(message)
  })
}
