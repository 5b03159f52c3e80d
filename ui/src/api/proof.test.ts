import { expect, test } from "vitest";
import { keyedHash } from "./proof";

// Worked out by the program's own `access::prove`; its test has the same.
test("a proof is what the server works out", () => {
  const key = Array.from({ length: 32 }, (_, index) => index.toString(16).padStart(2, "0")).join("");
  expect(keyedHash(key, "0123456789abcdef0123456789abcdef:7717")).toBe(
    "fb53a9c2b44e8f7589f9cb74ae6de381a06f2b49c8a91547afebb6d2336bf4d5",
  );
  expect(keyedHash("ff".repeat(32), "")).toBe("4076a8f6d302b4d092499ee7b24b114fa6ba2f0f578f289aa2fb4d97f0c36dee");
  expect(() => keyedHash("xy", "")).toThrow();
});
