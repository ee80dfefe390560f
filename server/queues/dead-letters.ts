import type { Feed } from 'perilune'

/** Moves dead letters in the background, for each feed one move at a time. What fails is tried at the next claim. */
export class DeadLetters {
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** A move that is under way may have looked already: then another one follows it. */
  move({ name }: Feed<string>, move: () => Promise<void>): void {
    const moving = (this.#underWay.get(name) ?? Promise.resolve())
      .then(move)
      .catch(this.#onError)
      .finally(() => {
        if (this.#underWay.get(name) === moving) this.#underWay.delete(name)
      })
    this.#underWay.set(name, moving)
  }

  async settle(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }
}
