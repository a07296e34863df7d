// The chart's test: `chart CHART [-values FILE] [-release NAME] [-namespace NAME] [-objects FILE]` does what `helm lint` and
// `helm template` do, with `-objects` as in a cluster that has these objects, decodes every manifest strictly with the Go types of Kubernetes and of the Prometheus operator, and
// prints the manifests as a JSON array. Exit code 1 with one line per finding on stderr; 2 for wrong arguments.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	documents "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The release that a chart is rendered for.
type release struct {
	name, namespace string
	// What its cluster has; nil: no cluster.
	objects []unstructured.Unstructured
}

// The name that Helm shows after an installation; it is no manifest.
const notes = "NOTES.txt"

func main() {
	values := flag.String("values", "", "file with values")
	name := flag.String("release", "llmbench", "name of the release")
	namespace := flag.String("namespace", "benchmarks", "namespace of the release")
	objects := flag.String("objects", "", "file with a JSON array of the objects in the cluster")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: chart [-values FILE] [-release NAME] [-namespace NAME] [-objects FILE] CHART")
		os.Exit(2)
	}
	of := release{name: *name, namespace: *namespace}
	if *objects != "" {
		if err := of.readObjects(*objects); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	manifests, findings := check(flag.Arg(0), *values, of)
	for _, finding := range findings {
		fmt.Fprintln(os.Stderr, finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(manifests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The manifests of a chart, and what is wrong with it.
func check(folder, valuesFile string, of release) ([]json.RawMessage, []error) {
	values := map[string]any{}
	if valuesFile != "" {
		text, err := os.ReadFile(valuesFile)
		if err != nil {
			return nil, []error{err}
		}
		if err := yaml.UnmarshalStrict(text, &values); err != nil {
			return nil, []error{fmt.Errorf("%s: %w", valuesFile, err)}
		}
	}
	files, err := render(folder, values, of)
	if err != nil {
		return nil, []error{err}
	}
	findings := lintFindings(folder, values, of.namespace)
	decoder, err := strictDecoder()
	if err != nil {
		return nil, []error{err}
	}
	manifests := []json.RawMessage{}
	for _, path := range sorted(files) {
		found, wrong := decodeFile(decoder, path, files[path])
		manifests = append(manifests, found...)
		findings = append(findings, wrong...)
	}
	return manifests, findings
}

// What `helm lint --strict` reports.
func lintFindings(folder string, values map[string]any, namespace string) []error {
	findings := []error{}
	for _, message := range lint.All(folder, values, namespace, true).Messages {
		if message.Severity >= support.WarningSev {
			findings = append(findings, message)
		}
	}
	return findings
}

// What `helm template` prints, by the path of the template; values are validated by the chart's schema.
func render(folder string, values map[string]any, of release) (map[string]string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: of.name, Namespace: of.namespace, IsInstall: true}
	rendered, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	if of.objects != nil {
		return engine.RenderWithClientProvider(chart, rendered, of)
	}
	return engine.Engine{Strict: true}.Render(chart, rendered)
}

func (r *release) readObjects(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &r.objects)
}

// What `lookup` of a template asks: the objects of one kind.
func (r release) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	found := []unstructured.Unstructured{}
	for _, object := range r.objects {
		if object.GetAPIVersion() == apiVersion && object.GetKind() == kind {
			found = append(found, object)
		}
	}
	return ofKind{objects: found}, true, nil
}

// The part of a client that `lookup` of one object uses.
type ofKind struct {
	dynamic.NamespaceableResourceInterface
	objects []unstructured.Unstructured
}

func (k ofKind) Namespace(namespace string) dynamic.ResourceInterface {
	return inNamespace{objects: k.objects, namespace: namespace}
}

type inNamespace struct {
	dynamic.ResourceInterface
	objects   []unstructured.Unstructured
	namespace string
}

func (n inNamespace) Get(_ context.Context, name string, _ meta.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	for _, object := range n.objects {
		if object.GetName() == name && object.GetNamespace() == n.namespace {
			return &object, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
}

// Refuses unknown and repeated fields.
func strictDecoder() (runtime.Decoder, error) {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, monitoring.AddToScheme} {
		if err := add(types); err != nil {
			return nil, err
		}
	}
	return serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer(), nil
}

func decodeFile(decoder runtime.Decoder, path, text string) ([]json.RawMessage, []error) {
	manifests, findings := []json.RawMessage{}, []error{}
	if filepath.Base(path) == notes || strings.HasPrefix(filepath.Base(path), "_") {
		return manifests, findings
	}
	reader := documents.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return manifests, findings
		}
		if err == nil && isEmpty(document) {
			continue
		}
		var manifest []byte
		if err == nil {
			manifest, err = yaml.YAMLToJSONStrict(document)
		}
		if err == nil {
			_, _, err = decoder.Decode(manifest, nil, nil)
		}
		if err != nil {
			return manifests, append(findings, fmt.Errorf("%s: %w", path, err))
		}
		manifests = append(manifests, manifest)
	}
}

func isEmpty(document []byte) bool {
	for _, line := range bytes.Split(document, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

func sorted(files map[string]string) []string {
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}
