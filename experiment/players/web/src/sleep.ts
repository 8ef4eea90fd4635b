/** Settles after so many ms. */
export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
