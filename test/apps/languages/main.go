// What it was asked, as JSON: the smallest Go server.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		log.Print("asked for ", r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "url": r.RequestURI, "bytes": len(body),
			"context": r.Header.Get("X-Context") != "", "stage": os.Getenv("TOOL_STAGE"),
		})
	})
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
